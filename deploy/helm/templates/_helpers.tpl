{{- define "notigraph.labels" -}}
app.kubernetes.io/name: {{ .Values.name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "notigraph.selector" -}}
app.kubernetes.io/name: {{ .Values.name }}
{{- end }}

{{- define "notigraph.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "notigraph.config" -}}
{{ toYaml (.Values.config | default (dict "sandbox" ":memory:")) }}
{{- end }}

{{- define "notigraph.configMap" -}}
{{ .Values.existingConfigMap | default (printf "%s-config" .Values.name) }}
{{- end }}

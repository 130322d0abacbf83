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

{{- /* Without exactly one of them, a mistyped name would serve the sandbox in production, with a green rollout. */ -}}
{{- define "notigraph.config" -}}
{{- $set := 0 }}
{{- range list .Values.config .Values.existingConfigMap .Values.sandbox }}{{ if . }}{{ $set = add1 $set }}{{ end }}{{ end }}
{{- if eq (int $set) 0 }}
{{- fail "There is no configuration. Set config, or existingConfigMap; to try it with sample data, set sandbox to true." }}
{{- else if gt (int $set) 1 }}
{{- fail "Only one of config, existingConfigMap and sandbox can be used. Remove the others." }}
{{- end }}
{{- toYaml (ternary (dict "sandbox" ":memory:" "graphiql" "on") .Values.config .Values.sandbox) }}
{{- end }}

{{- define "notigraph.configMap" -}}
{{ .Values.existingConfigMap | default (printf "%s-config" .Values.name) }}
{{- end }}

{{- /* Secrets belong to root. Without a group of the volumes, only a mode for everybody in the container lets the process read them. */ -}}
{{- define "notigraph.secretMode" -}}
{{ ternary 288 292 (hasKey .Values.podSecurityContext "fsGroup") }}
{{- end }}

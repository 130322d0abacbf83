{{- define "notigraph.labels" -}}
app.kubernetes.io/name: {{ .Values.name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
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

{{- /* The settings that the chart follows, as JSON: those of the configuration, which variables override. */ -}}
{{- define "notigraph.settings" -}}
{{- $settings := deepCopy .Values.config }}
{{- with .Values.existingConfigMap }}
{{- $data := (lookup "v1" "ConfigMap" $.Release.Namespace .).data | default dict }}
{{- $settings = index $data "notigraph.config.yaml" | default "" | fromYaml }}
{{- end }}
{{- $names := dict "NOTIGRAPH_ENDPOINT" "endpoint" "NOTIGRAPH_DRAIN_DELAY_MS" "drainDelayMs" "NOTIGRAPH_DRAIN_TIMEOUT_MS" "drainTimeoutMs" }}
{{- range .Values.env }}
{{- if hasKey $names .name }}{{ $_ := set $settings (get $names .name) (.value | default dict) }}{{ end }}
{{- end }}
{{- range $name, $default := dict "endpoint" "/graphql" "drainDelayMs" 0 "drainTimeoutMs" 20000 }}
{{- if not (hasKey $settings $name) }}{{ $_ := set $settings $name $default }}{{ end }}
{{- end }}
{{- toJson $settings }}
{{- end }}

{{- /* 10 s before SIGTERM, then drainDelayMs and drainTimeoutMs, and some time to spare. */ -}}
{{- define "notigraph.gracePeriod" -}}
{{- $settings := include "notigraph.settings" . | fromJson }}
{{- $given := int .Values.terminationGracePeriodSeconds }}
{{- if or (kindIs "map" $settings.drainDelayMs) (kindIs "map" $settings.drainTimeoutMs) }}
{{- if not $given }}
{{- fail "drainDelayMs or drainTimeoutMs is in a variable, which the chart can't read: set terminationGracePeriodSeconds to at least 15 s more than both." }}
{{- end }}
{{- $given }}
{{- else }}
{{- $needed := add 10 (ceil (divf (addf (float64 $settings.drainDelayMs) (float64 $settings.drainTimeoutMs)) 1000)) }}
{{- if and $given (lt $given (int (add $needed 5))) }}
{{- fail (printf "terminationGracePeriodSeconds is %d, so Kubernetes would end pods in the middle of requests. Set it to at least %d: 10 s before SIGTERM, drainDelayMs, drainTimeoutMs, and 5 s to spare." $given (add $needed 5)) }}
{{- end }}
{{- $given | default (add $needed 15) }}
{{- end }}
{{- end }}

{{- /* Paths that are made public, as JSON. */ -}}
{{- define "notigraph.paths" -}}
{{- $settings := include "notigraph.settings" . | fromJson }}
{{- $prefixes := list "" }}
{{- $variables := list $settings.endpoint }}
{{- range $settings.upstreams | default dict }}
{{- with .pathPrefix }}{{ $prefixes = append $prefixes . }}{{ $variables = append $variables . }}{{ end }}
{{- end }}
{{- $paths := .Values.paths }}
{{- if not $paths }}
{{- range $variables }}
{{- if kindIs "map" . }}
{{- fail "endpoint or a pathPrefix is in a variable, which the chart can't read: set paths." }}
{{- end }}
{{- end }}
{{- range $prefix := $prefixes }}
{{- range list $settings.endpoint "/client-tokens" "/mcp" }}{{ $paths = append $paths (print $prefix .) }}{{ end }}
{{- end }}
{{- end }}
{{- toJson $paths }}
{{- end }}

{{- define "notigraph.serviceAccount" -}}
{{ .Values.serviceAccount.name | default .Values.name }}
{{- end }}

{{- define "notigraph.configMap" -}}
{{ .Values.existingConfigMap | default (printf "%s-config" .Values.name) }}
{{- end }}

{{- /* Secrets belong to root. Without a group of the volumes, only a mode for everybody in the container lets the process read them. */ -}}
{{- define "notigraph.secretMode" -}}
{{ ternary 288 292 (hasKey .Values.podSecurityContext "fsGroup") }}
{{- end }}

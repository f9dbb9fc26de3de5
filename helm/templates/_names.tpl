{{/* Names and labels. */}}

{{- define "scriptorium.chartName" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "scriptorium.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $chart := include "scriptorium.chartName" . -}}
{{- if contains $chart .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $chart | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "scriptorium.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "scriptorium.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The Secret that is made here. */}}
{{- define "scriptorium.generatedSecret" -}}
{{ include "scriptorium.name" . }}-secret
{{- end -}}

{{- define "scriptorium.selector" -}}
app.kubernetes.io/name: {{ include "scriptorium.chartName" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of one component: (dict "root" $ "component" "gateway"). */}}
{{- define "scriptorium.selectorOf" -}}
{{ include "scriptorium.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "scriptorium.labels" -}}
{{ include "scriptorium.selectorOf" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "scriptorium.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{/* As servers see them: numbers of a YAML file would come as 1e+06. */}}
{{- define "scriptorium.text" -}}
{{- if or (kindIs "float64" .) (kindIs "int64" .) (kindIs "int" .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* The Secrets of certificates, empty where there are none. */}}

{{- define "scriptorium.clientTls" -}}
{{- if eq .Values.tls.mode "certManager" -}}
{{ include "scriptorium.name" . }}-client-tls
{{- else if eq .Values.tls.mode "existing" -}}
{{ .Values.tls.secrets.client }}
{{- end -}}
{{- end -}}

{{- define "scriptorium.natsTls" -}}
{{- if eq .Values.tls.mode "certManager" -}}
{{ include "scriptorium.name" . }}-nats-tls
{{- else if eq .Values.tls.mode "existing" -}}
{{ .Values.tls.secrets.nats }}
{{- end -}}
{{- end -}}

{{- define "scriptorium.cockroachdbNodeTls" -}}
{{- if eq .Values.tls.mode "certManager" -}}
{{ include "scriptorium.name" . }}-cockroachdb-node-tls
{{- else -}}
{{ .Values.tls.secrets.cockroachdbNode }}
{{- end -}}
{{- end -}}

{{- define "scriptorium.cockroachdbRootTls" -}}
{{- if eq .Values.tls.mode "certManager" -}}
{{ include "scriptorium.name" . }}-cockroachdb-root-tls
{{- else -}}
{{ .Values.tls.secrets.cockroachdbRoot }}
{{- end -}}
{{- end -}}

{{/* All three servers, so that none of them has to be there when a process starts. */}}
{{- define "scriptorium.natsUrl" -}}
{{- $name := include "scriptorium.name" . -}}
{{- $scheme := ternary "nats" "tls" (eq (include "scriptorium.natsTls" .) "") -}}
{{- $addresses := list -}}
{{- range $n := until 3 -}}
{{- $addresses = append $addresses (printf "%s://%s-nats-%d.%s-nats.%s.svc:4222" $scheme $name $n $name $.Release.Namespace) -}}
{{- end -}}
{{- join "," $addresses -}}
{{- end -}}

{{/* The user signs in by its certificate, so there is no password. */}}
{{- define "scriptorium.cockroachdbUrl" -}}
{{- $tls := "/etc/scriptorium/tls" -}}
{{- printf "postgresql://scriptorium@%s-cockroachdb-sql.%s.svc:26257/scriptorium?sslmode=verify-full&sslrootcert=%s/ca.crt&sslcert=%s/tls.crt&sslkey=%s/tls.key" (include "scriptorium.name" .) .Release.Namespace $tls $tls $tls -}}
{{- end -}}

{{/* Beside a server that reads its certificates anew at a SIGHUP, and has its process id in the volume `run`:
(dict "image" … "folder" … "certificate" "tls.crt" "volume" "tls"). */}}
{{- define "scriptorium.renewals" -}}
- name: renewals
  image: {{ .image }}
  command: [/bin/sh, -c]
  args:
    - |
      trap 'exit 0' TERM
      sum() { cat {{ .folder }}/{{ .certificate }} {{ .folder }}/ca.crt | sha256sum; }
      seen=$(sum)
      while :; do
        sleep 30 & wait $!
        now=$(sum)
        [ "$now" = "$seen" ] && continue
        kill -HUP "$(cat /run/server/pid)" && seen=$now
      done
  securityContext:
    {{- include "scriptorium.containerSecurity" . | nindent 4 }}
  resources:
    requests: { cpu: 5m, memory: 8Mi }
    limits: { memory: 32Mi }
  volumeMounts:
    - { name: run, mountPath: /run/server, readOnly: true }
    - { name: {{ .volume }}, mountPath: {{ .folder }}, readOnly: true }
{{- end -}}

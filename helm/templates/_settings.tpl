{{/* The settings that are no secrets, and not another for each role. */}}
{{- define "scriptorium.settings" -}}
{{- $values := .Values -}}
{{- $settings := dict
  "HOST" "0.0.0.0"
  "PORT" "3000"
  "ADMIN_HOST" "0.0.0.0"
  "ADMIN_PORT" "9090"
  "DATA_DIR" "/var/lib/scriptorium/data"
  "CLUSTER_NAME" $values.clusterName
  "EXPECTED_HOSTS" (include "scriptorium.text" (ternary $values.expectedHosts 1 (eq $values.topology "cluster")))
-}}
{{- if $values.publicUrl }}{{ $_ := set $settings "PUBLIC_URL" $values.publicUrl }}{{ end -}}
{{- if $values.shardCount }}{{ $_ := set $settings "SHARD_COUNT" (include "scriptorium.text" $values.shardCount) }}{{ end -}}
{{- if eq $values.registration "closed" }}{{ $_ := set $settings "DISABLE_USER_REGISTRATION" "true" }}{{ end -}}
{{- if eq $values.registration "open" }}{{ $_ := set $settings "ALLOW_OPEN_REGISTRATION" "true" }}{{ end -}}
{{- if eq $values.registration "key" }}{{ $_ := set $settings "SHARED_SERVER_ACCESS_KEY_MODE" "registration" }}{{ end -}}
{{- if or $values.ingress.enabled $values.httpRoute.enabled }}{{ $_ := set $settings "TRUST_PROXY" "uniquelocal" }}{{ end -}}
{{- if $values.files.existingClaim -}}
{{- $_ := set $settings "FILES_FOLDER" "/var/lib/scriptorium-files/store" -}}
{{- if eq $values.topology "cluster" }}{{ $_ := set $settings "FILES_FOLDER_SHARED" "true" }}{{ end -}}
{{- end -}}
{{- if $values.migrations.hook }}{{ $_ := set $settings "MIGRATE_AT_START" "false" }}{{ end -}}
{{- if $values.nats.enabled -}}
{{- $_ := set $settings "NATS_URL" (include "scriptorium.natsUrl" .) -}}
{{- $_ := set $settings "NATS_REPLICAS" "3" -}}
{{- end -}}
{{- /* An authority of the chart's own vouches for no NATS but that of the chart. */ -}}
{{- if and (include "scriptorium.clientTls" .) (eq $values.topology "cluster") (or $values.nats.enabled $values.tls.certManager.issuerRef (eq $values.tls.mode "existing")) -}}
{{- $_ := set $settings "NATS_CA_FILE" "/etc/scriptorium/tls/ca.crt" -}}
{{- $_ := set $settings "NATS_CERT_FILE" "/etc/scriptorium/tls/tls.crt" -}}
{{- $_ := set $settings "NATS_KEY_FILE" "/etc/scriptorium/tls/tls.key" -}}
{{- end -}}
{{- if $values.cockroachdb.enabled }}{{ $_ := set $settings "DATABASE_URL" (include "scriptorium.cockroachdbUrl" .) }}{{ end -}}
{{- range $name, $value := $values.settings }}{{ $_ := set $settings $name (include "scriptorium.text" $value) }}{{ end -}}
{{- toYaml $settings -}}
{{- end -}}

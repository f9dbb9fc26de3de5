{{/* What does not fit together, said before anything is changed. */}}
{{- define "scriptorium.check" -}}
{{- $values := .Values -}}
{{- $secrets := $values.secrets -}}
{{- $keys := fromYaml (include "scriptorium.secretKeys" .) -}}
{{- if and $secrets.generate (get $secrets.keys "SECRET_KEY") }}{{ fail "secrets.generate and SECRET_KEY in secrets.keys are two ways to the same: choose one." }}{{ end -}}
{{- if and $secrets.keys (not $secrets.existingSecret) }}{{ fail "secrets.keys needs secrets.existingSecret, the Secret that has them." }}{{ end -}}
{{- if and $secrets.existingSecret (not $secrets.keys) }}{{ fail "secrets.existingSecret needs secrets.keys: which key of it holds which setting." }}{{ end -}}
{{- if and (eq $values.registration "key") (not (hasKey $keys "SHARED_SERVER_ACCESS_KEY")) }}{{ fail "registration: key needs the access key: SHARED_SERVER_ACCESS_KEY in secrets.keys." }}{{ end -}}
{{- if eq $values.topology "cluster" -}}
{{- if not (hasKey $keys "SECRET_KEY") }}{{ fail "A cluster needs the root secret: SECRET_KEY in secrets.keys, or secrets.generate." }}{{ end -}}
{{- if not (or (hasKey $keys "DATABASE_URL") $values.cockroachdb.enabled) }}{{ fail "A cluster needs a database: DATABASE_URL in secrets.keys, or cockroachdb.enabled." }}{{ end -}}
{{- if not (or (hasKey $keys "NATS_URL") $values.nats.enabled) }}{{ fail "A cluster needs NATS: NATS_URL in secrets.keys, or nats.enabled." }}{{ end -}}
{{- if not (or $values.files.existingClaim (eq (get $values.settings "FILES_STORE") "s3")) }}{{ fail "A cluster needs files where all pods reach them: FILES_STORE: s3 in settings, or files.existingClaim." }}{{ end -}}
{{- else -}}
{{- if or $values.nats.enabled $values.cockroachdb.enabled (hasKey $keys "NATS_URL") }}{{ fail "nats, cockroachdb and NATS_URL are for topology: cluster." }}{{ end -}}
{{- end -}}
{{- if and $values.prometheusRule.enabled (not $values.prometheusRule.runbooks) }}{{ fail "prometheusRule needs runbooks: the address under which your people read docs/alerts.md." }}{{ end -}}
{{- if and $values.serviceMonitor.enabled $values.networkPolicy.enabled (not $values.networkPolicy.monitoring) }}{{ fail "serviceMonitor needs networkPolicy.monitoring: the pods of your Prometheus, which could not ask the admin port otherwise." }}{{ end -}}
{{- if and $values.nats.enabled (hasKey $keys "NATS_URL") }}{{ fail "nats.enabled and NATS_URL in secrets.keys are two ways to the same: choose one." }}{{ end -}}
{{- if and $values.cockroachdb.enabled (hasKey $keys "DATABASE_URL") }}{{ fail "cockroachdb.enabled and DATABASE_URL in secrets.keys are two ways to the same: choose one." }}{{ end -}}
{{- if and $values.nats.enabled (eq (include "scriptorium.natsTls" .) "") (ne (toString (get $values.settings "NATS_ALLOW_INSECURE")) "true") }}{{ fail "nats.enabled needs certificates: tls.mode certManager, or existing with tls.secrets.nats. NATS_ALLOW_INSECURE: true in settings goes without, where nobody else sees that network." }}{{ end -}}
{{- if and (eq $values.tls.mode "existing") (not $values.tls.secrets.client) }}{{ fail "tls.mode existing needs tls.secrets.client." }}{{ end -}}
{{- if and $values.cockroachdb.enabled (eq $values.tls.mode "none") }}{{ fail "cockroachdb.enabled needs certificates, by which its users sign in: tls.mode." }}{{ end -}}
{{- if and $values.cockroachdb.enabled (eq $values.tls.mode "existing") (not (and $values.tls.secrets.cockroachdbNode $values.tls.secrets.cockroachdbRoot)) }}{{ fail "cockroachdb.enabled with tls.mode existing needs tls.secrets.cockroachdbNode and tls.secrets.cockroachdbRoot." }}{{ end -}}
{{- if and $values.migrations.hook (not (and $secrets.existingSecret (hasKey $keys "DATABASE_URL"))) }}{{ fail "migrations.hook needs DATABASE_URL in secrets.keys of an existing Secret: it runs before anything of the chart is there." }}{{ end -}}
{{- if and $values.migrations.hook (eq $values.tls.mode "certManager") }}{{ fail "migrations.hook with tls.mode certManager: its Job would wait for a certificate that is made after it. Use tls.mode existing." }}{{ end -}}
{{- if and $secrets.databaseCaKey (not (hasKey $keys "DATABASE_URL")) }}{{ fail "secrets.databaseCaKey is the authority of the database of DATABASE_URL in secrets.keys, which is not there." }}{{ end -}}
{{- if and $values.backup.databaseUrlKey (not (hasKey $keys "DATABASE_URL")) }}{{ fail "backup.databaseUrlKey is another address of the database of DATABASE_URL in secrets.keys, which is not there." }}{{ end -}}
{{- if and $values.backup.verify $values.settings.BACKUP_RECIPIENTS (not $values.backup.identityKey) }}{{ fail "backup.verify needs backup.identityKey: BACKUP_RECIPIENTS encrypts what it is to read." }}{{ end -}}
{{- if and $values.backup.enabled $values.settings.BACKUP_SCHEDULE }}{{ fail "backup.enabled and BACKUP_SCHEDULE in settings are two ways to the same: choose one." }}{{ end -}}
{{- if and (or $values.ingress.enabled $values.httpRoute.enabled) (not $values.publicUrl) }}{{ fail "ingress and httpRoute need publicUrl, whose host they serve." }}{{ end -}}
{{- if and $values.service.externalTrafficPolicy (eq $values.service.type "ClusterIP") }}{{ fail "service.externalTrafficPolicy is for service.type NodePort and LoadBalancer." }}{{ end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}{{ fail "httpRoute needs parentRefs: the gateways that it belongs to." }}{{ end -}}
{{- if .Release.IsUpgrade -}}
{{- $live := dig "data" dict (lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-settings" (include "scriptorium.name" .))) -}}
{{- if and (hasKey $live "CLUSTER_NAME") (ne (get $live "CLUSTER_NAME") $values.clusterName) }}{{ fail (printf "clusterName must not change: the database knows it as %q." (get $live "CLUSTER_NAME")) }}{{ end -}}
{{- $shards := get $live "SHARD_COUNT" -}}
{{- if and $shards $values.shardCount (ne $shards (include "scriptorium.text" $values.shardCount)) }}{{ fail (printf "shardCount must not change: the database has %s. After `scriptorium reshard` leave it out: shardCount: null." $shards) }}{{ end -}}
{{- end -}}
{{- end -}}

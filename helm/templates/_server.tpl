{{/* What all pods of the server's image have in common: who they are, what they see, how they end. */}}

{{/* The user of the image. */}}
{{- define "scriptorium.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
# Else the kubelet would open the data directory to the group at each start, and the server refuses such a one.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "scriptorium.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Where pods are: (dict "root" $ "component" "gateway"). */}}
{{- define "scriptorium.placement" -}}
{{- $pods := .root.Values.pods -}}
{{- with $pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* By node, and by zone where nodes have one. Constraints of spreading would not do for both: the scheduler leaves all of them out
for nodes that lack one of their labels. */}}
{{- define "scriptorium.spread" -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "scriptorium.selectorOf" $ | nindent 14 }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: {{ .root.Values.pods.zoneKey }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "scriptorium.selectorOf" $ | nindent 8 }}
{{- end -}}

{{- define "scriptorium.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* How long closing may take: main.ts gives the two drains and 25 s. */}}
{{- define "scriptorium.closeSeconds" -}}
{{- $drainMs := int64 (include "scriptorium.drainMs" .) -}}
{{- add (div (add (mul 2 $drainMs) 999) 1000) 25 -}}
{{- end -}}

{{- define "scriptorium.drainMs" -}}
{{- $given := .Values.settings.DRAIN_TIMEOUT_MS -}}
{{- if kindIs "invalid" $given -}}10000{{- else -}}{{ include "scriptorium.text" $given }}{{- end -}}
{{- end -}}

{{- define "scriptorium.leaseMs" -}}
{{- $given := .Values.settings.LEASE_MS -}}
{{- if kindIs "invalid" $given -}}10000{{- else -}}{{ include "scriptorium.text" $given }}{{- end -}}
{{- end -}}

{{/* Which secrets there are to be mounted, as "SETTING: key". What a preset names and you do not have is empty. */}}
{{- define "scriptorium.secretKeys" -}}
{{- $keys := dict -}}
{{- range $setting, $key := .Values.secrets.keys }}{{ if $key }}{{ $_ := set $keys $setting $key }}{{ end }}{{ end -}}
{{- if .Values.secrets.generate }}{{ $_ := set $keys "SECRET_KEY" "secret-key" }}{{ end -}}
{{- toYaml $keys -}}
{{- end -}}

{{/* Whether PostgreSQL runs in the pod of the server. */}}
{{- define "scriptorium.hasOwnDatabase" -}}
{{- if and (eq .Values.topology "single") (not (hasKey (fromYaml (include "scriptorium.secretKeys" .)) "DATABASE_URL")) -}}true{{- end -}}
{{- end -}}

{{/* Those that jobs need. */}}
{{- define "scriptorium.jobSecretKeys" -}}
{{- toYaml (pick (fromYaml (include "scriptorium.secretKeys" .)) "DATABASE_URL") -}}
{{- end -}}

{{/* Those of a backup: the database, the files, the target, and what opens it again. */}}
{{- define "scriptorium.backupSecretKeys" -}}
{{- $keys := pick (fromYaml (include "scriptorium.secretKeys" .)) "DATABASE_URL" "FILES_S3_SECRET_ACCESS_KEY" "BACKUP_S3_SECRET_ACCESS_KEY" -}}
{{- with .Values.backup.identityKey }}{{ $_ := set $keys "BACKUP_IDENTITY" . }}{{ end -}}
{{- toYaml $keys -}}
{{- end -}}

{{/* All three of (dict "root" $ "keys" …). */}}
{{- define "scriptorium.secretEnv" -}}
{{- range $setting, $key := fromYaml .keys }}
- name: {{ $setting }}_FILE
  value: /run/secrets/scriptorium/{{ $setting }}
{{- end }}
{{- end -}}

{{- define "scriptorium.secretMounts" -}}
{{- if fromYaml .keys }}
- name: secrets
  mountPath: /run/secrets/scriptorium
  readOnly: true
{{- end }}
{{- if include "scriptorium.clientTls" .root }}
- name: tls
  mountPath: /etc/scriptorium/tls
  readOnly: true
{{- end }}
{{- end -}}

{{- define "scriptorium.secretVolumes" -}}
{{- $secrets := .root.Values.secrets }}
{{- $keys := fromYaml .keys }}
{{- $isGenerated := and $secrets.generate (hasKey $keys "SECRET_KEY") }}
{{- if $keys }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- if $isGenerated }}
      - secret:
          name: {{ include "scriptorium.generatedSecret" .root }}
          items:
            - { key: {{ $keys.SECRET_KEY }}, path: SECRET_KEY }
      {{- end }}
      {{- with ternary (omit $keys "SECRET_KEY") $keys $isGenerated }}
      - secret:
          name: {{ $secrets.existingSecret }}
          items:
            {{- range $setting, $key := . }}
            - { key: {{ $key }}, path: {{ $setting }} }
            {{- end }}
            {{- if $secrets.databaseCaKey }}
            - { key: {{ $secrets.databaseCaKey }}, path: database-ca.pem }
            {{- end }}
      {{- end }}
{{- end }}
{{- with include "scriptorium.clientTls" .root }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end -}}

{{/* A pod of the server: (dict "root" $ "component" "gateway" "role" "gateway" "preStopSeconds" 15 "resources" …). */}}
{{- define "scriptorium.serverPod" -}}
{{- $root := .root -}}
{{- $isSingle := eq .role "all" -}}
{{- $preStop := int64 .preStopSeconds -}}
{{- $secrets := dict "root" $root "keys" (include "scriptorium.secretKeys" $root) -}}
metadata:
  labels:
    {{- include "scriptorium.labels" . | nindent 4 }}
    scriptorium/server: 'true'
    {{- with $root.Values.pods.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Settings are read at the start.
    checksum/settings: {{ include "scriptorium.settings" $root | sha256sum }}
    {{- with $root.Values.pods.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "scriptorium.serviceAccount" $root }}
  automountServiceAccountToken: false
  # The addresses of other services would be variables that look like settings.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add $preStop (int64 (include "scriptorium.closeSeconds" $root)) 5 }}
  securityContext:
    {{- include "scriptorium.podSecurity" $root | nindent 4 }}
  {{- include "scriptorium.pullSecrets" $root | nindent 2 }}
  {{- include "scriptorium.placement" . | nindent 2 }}
  {{- if not $isSingle }}
  {{- include "scriptorium.spread" . | nindent 2 }}
  {{- end }}
  containers:
    - name: scriptorium
      image: {{ include "scriptorium.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      securityContext:
        {{- include "scriptorium.containerSecurity" $root | nindent 8 }}
      envFrom:
        - configMapRef:
            name: {{ include "scriptorium.name" $root }}-settings
      env:
        - name: ROLE
          value: {{ .role }}
        # Names of gateways are new with each pod; what is left of old ones goes by itself. Those of hosts stay.
        - name: NODE_ID
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- if ne .role "gateway" }}
        # Its names within the cluster, by which its metrics are asked. Pods of gateways have none.
        {{- $pods := printf "$(NODE_ID).%s-pods" (include "scriptorium.name" $root) }}
        {{- $service := printf "%s.%s.svc" $pods $root.Release.Namespace }}
        {{- $names := list $pods (trimSuffix ".svc" $service) $service (printf "%s.cluster.local" $service) }}
        - name: ADMIN_NAMES
          value: {{ concat $names (compact (list $root.Values.settings.ADMIN_NAMES)) | join "," }}
        {{- end }}
        {{- include "scriptorium.secretEnv" $secrets | nindent 8 }}
      ports:
        {{- if ne .role "host" }}
        - name: http
          containerPort: 3000
        {{- end }}
        - name: admin
          containerPort: 9090
      # The admin port opens when the process has joined: after the schema is up to date and a former lease has ended.
      startupProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 2
        failureThreshold: 450
      # Asks no dependency: restarting a process heals none.
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 3
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if gt $preStop 0 }}
      # The pod leaves the endpoints while it still serves, and drains after that.
      lifecycle:
        preStop:
          sleep:
            seconds: {{ $preStop }}
      {{- end }}
      resources:
        {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /var/lib/scriptorium
        - name: tmp
          mountPath: /tmp
        {{- if $isSingle }}
        - name: shm
          mountPath: /dev/shm
        {{- end }}
        {{- if $root.Values.files.existingClaim }}
        - name: files
          mountPath: /var/lib/scriptorium-files
        {{- end }}
        {{- include "scriptorium.secretMounts" $secrets | nindent 8 }}
  volumes:
    {{- if $isSingle }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ include "scriptorium.dataClaim" $root }}
    - name: shm
      emptyDir:
        medium: Memory
        sizeLimit: 64Mi
    {{- else }}
    # The lock of this directory tells a container that restarts in its pod from one that still runs.
    - name: data
      emptyDir:
        sizeLimit: 64Mi
    {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
    {{- if $root.Values.files.existingClaim }}
    - name: files
      persistentVolumeClaim:
        claimName: {{ $root.Values.files.existingClaim }}
    {{- end }}
    {{- include "scriptorium.secretVolumes" $secrets | nindent 4 }}
{{- end -}}

{{- define "scriptorium.dataClaim" -}}
{{- default (printf "%s-data" (include "scriptorium.name" .)) .Values.single.storage.existingClaim -}}
{{- end -}}

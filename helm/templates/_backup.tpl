{{/*
The pod of a Job that makes or restores backups: (dict "root" $ "keys" … "commands" (list (dict "name" … "args" …) …) "mayWrite" true).
The commands run one after the other. Without `mayWrite` they cannot change what the server has.
*/}}
{{- define "scriptorium.backupPod" -}}
{{- $root := .root -}}
{{- $keys := fromYaml .keys -}}
{{- $readOnly := not .mayWrite -}}
{{- $verifies := and $root.Values.backup.verify $readOnly -}}
{{- $of := dict "root" $root "component" "backup" -}}
{{- $secrets := dict "root" $root "keys" (toYaml $keys) -}}
{{- $isSingle := eq $root.Values.topology "single" -}}
{{- $target := include "scriptorium.backupTarget" $root -}}
{{- $isVolume := not (hasPrefix "s3://" $target) -}}
metadata:
  labels:
    {{- include "scriptorium.labels" $of | nindent 4 }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ include "scriptorium.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- include "scriptorium.podSecurity" $root | nindent 4 }}
  {{- include "scriptorium.pullSecrets" $root | nindent 2 }}
  {{- include "scriptorium.placement" $of | nindent 2 }}
  {{- if and $isSingle $readOnly }}
  # It reads the volume of the server, which is on one node at a time.
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "scriptorium.selectorOf" (dict "root" $root "component" "server") | nindent 14 }}
  {{- end }}
  {{- if gt (len .commands) 1 }}
  initContainers:
  {{- end }}
  {{- range $index, $command := .commands }}
  {{- if eq (add1 $index) (len $.commands) }}
  containers:
  {{- end }}
    - name: {{ $command.name }}
      image: {{ include "scriptorium.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- with $command.command }}
      command: {{ . | toJson }}
      {{- end }}
      {{- with $command.args }}
      args: {{ prepend . "dist/cli/main.js" | toJson }}
      {{- end }}
      envFrom:
        - configMapRef:
            name: {{ include "scriptorium.name" $root }}-settings
      env:
        - { name: BACKUP_TARGET, value: {{ $target | quote }} }
        - { name: BACKUP_KEEP, value: {{ $root.Values.backup.keep | quote }} }
        {{- include "scriptorium.secretEnv" (dict "root" $root "keys" (toYaml (omit $keys "BACKUP_IDENTITY"))) | nindent 8 }}
      securityContext:
        {{- include "scriptorium.containerSecurity" $root | nindent 8 }}
      resources:
        {{- toYaml $root.Values.backup.resources | nindent 8 }}
      volumeMounts:
        {{- if $isVolume }}
        - { name: backup, mountPath: {{ $target | quote }} }
        {{- end }}
        {{- if $isSingle }}
        # A socket on it can be used even where it is read-only.
        - { name: data, mountPath: /var/lib/scriptorium, readOnly: {{ $readOnly }} }
        {{- end }}
        {{- if $root.Values.files.existingClaim }}
        - { name: files, mountPath: /var/lib/scriptorium-files, readOnly: {{ $readOnly }} }
        {{- end }}
        {{- if $verifies }}
        - { name: scratch, mountPath: /scratch }
        {{- end }}
        - { name: tmp, mountPath: /tmp }
        {{- include "scriptorium.secretMounts" $secrets | nindent 8 }}
  {{- end }}
  volumes:
    {{- if $isVolume }}
    - name: backup
      persistentVolumeClaim:
        claimName: {{ include "scriptorium.backupClaim" $root }}
    {{- end }}
    {{- if $verifies }}
    # As large as the database.
    - name: scratch
      emptyDir: {}
    {{- end }}
    # A database or a server writes to it, and the root of the container is read-only.
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
    {{- if $isSingle }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ include "scriptorium.dataClaim" $root }}
    {{- end }}
    {{- if $root.Values.files.existingClaim }}
    - name: files
      persistentVolumeClaim:
        claimName: {{ $root.Values.files.existingClaim }}
    {{- end }}
    {{- include "scriptorium.secretVolumes" $secrets | nindent 4 }}
{{- end -}}

{{- define "scriptorium.backupTarget" -}}
{{- default "/backup" .Values.settings.BACKUP_TARGET -}}
{{- end -}}

{{- define "scriptorium.backupClaim" -}}
{{- default (printf "%s-backup" (include "scriptorium.name" .)) .Values.backup.storage.existingClaim -}}
{{- end -}}

{{/* What opens an encrypted backup, as a list of arguments. */}}
{{- define "scriptorium.backupIdentity" -}}
{{- ternary (list "--identity" "/run/secrets/scriptorium/BACKUP_IDENTITY") list (ne .Values.backup.identityKey "") | toJson -}}
{{- end -}}

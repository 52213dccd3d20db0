{{- define "urd.selector" -}}
app.kubernetes.io/name: urd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "urd.labels" -}}
{{ include "urd.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
{{- end }}

{{- define "urd.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Before the nodes of a version come its Secrets and its schema. The database of a trial comes with the nodes. */}}
{{- define "urd.before" -}}
{{- if not .root.Values.trial.enabled -}}
annotations:
  helm.sh/hook: pre-install,pre-upgrade
  helm.sh/hook-weight: {{ .weight | quote }}
{{- end }}
{{- end }}

{{- /* What each pod with the image has in common. */}}
{{- define "urd.pod" -}}
automountServiceAccountToken: false
# Kubernetes would tell of services as URD_…, and Urd refuses a setting that it does not know.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "urd.container" -}}
image: {{ include "urd.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env: [{name: CREDENTIALS_DIRECTORY, value: /run/credentials/urd}]
securityContext:
  {{- include "urd.locked" . | nindent 2 }}
{{- end }}

{{- define "urd.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

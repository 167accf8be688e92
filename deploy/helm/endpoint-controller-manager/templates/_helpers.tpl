{{- define "ecm.selector" -}}
app.kubernetes.io/name: endpoint-controller-manager
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "ecm.labels" -}}
{{ include "ecm.selector" . }}
app.kubernetes.io/part-of: kube-endpoints
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
{{- define "ecm.metadata" -}}
name: endpoint-controller-manager
namespace: {{ .Release.Namespace }}
labels:
  {{- include "ecm.labels" . | nindent 2 }}
{{- end }}

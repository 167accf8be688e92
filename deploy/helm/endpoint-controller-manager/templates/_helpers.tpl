{{- /* "active" or "shadow". */}}
{{- define "ecm.mode" -}}
{{- if not (has .Values.mode (list "active" "shadow")) }}
{{- fail (printf "mode: %v is neither active nor shadow" .Values.mode) }}
{{- end }}
{{- .Values.mode }}
{{- end }}
{{- /* Ends the names of all objects, so that a release in shadow mode can be installed beside an active one. */}}
{{- define "ecm.suffix" -}}
{{- if eq (include "ecm.mode" .) "shadow" }}-shadow{{ end }}
{{- end }}
{{- define "ecm.name" -}}
endpoint-controller-manager{{ include "ecm.suffix" . }}
{{- end }}
{{- define "ecm.selector" -}}
app.kubernetes.io/name: {{ include "ecm.name" . }}
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
name: {{ include "ecm.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "ecm.labels" . | nindent 2 }}
{{- end }}
{{- /* Whether Roles and RoleBindings in kube-system are rendered: not empty if they are. */}}
{{- define "ecm.rolesInKubeSystem" -}}
{{- if or (eq (include "ecm.mode" .) "active") .Values.rolesInKubeSystem }}true{{ end }}
{{- end }}
{{- define "ecm.image" -}}
{{- if .Values.image.digest }}
{{- .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}
{{- .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}
{{- /* The affinity to control-plane Nodes; empty if they are ignored. */}}
{{- define "ecm.nodeAffinity" -}}
{{- $nodes := .Values.controlPlaneNodes | default (ternary "required" "ignored" (eq (include "ecm.mode" .) "active")) }}
{{- if eq $nodes "required" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - key: node-role.kubernetes.io/control-plane
            operator: Exists
{{- else if eq $nodes "preferred" -}}
nodeAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      preference:
        matchExpressions:
          - key: node-role.kubernetes.io/control-plane
            operator: Exists
{{- end }}
{{- end }}

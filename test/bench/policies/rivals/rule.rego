package bench

default allow := false

allow if {
	input.metadata.labels["app.kubernetes.io/name"]
	input.metadata.labels.team
	every list in ["initContainers", "containers", "ephemeralContainers"] {
		every c in object.get(input.spec, list, []) {
			good_image(c.image)
			confined(c.securityContext)
		}
	}
}

good_image(image) if {
	startswith(image, "registry.example/")
	tagged(image)
}

tagged(image) if contains(image, "@")

tagged(image) if {
	contains(image, ":")
	not endswith(image, ":latest")
}

confined(context) if {
	not context.privileged
	not context.allowPrivilegeEscalation
	context.runAsNonRoot
}

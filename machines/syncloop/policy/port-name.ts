/** The name of a container's port: an IANA service name (apimachinery/pkg/util/validation:IsValidPortName). */
export const PORT_NAME = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;

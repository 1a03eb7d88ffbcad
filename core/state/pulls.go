package state

import "errors"

// pulledDir is the directory of records of images that were pulled with credentials.
const pulledDir = "pulled"

// PulledImage says who may use an image that was pulled with credentials.
type PulledImage struct {
	// Image is the runtime's ID of the image. If Pending, it is the name under which the image is
	// being pulled, because an agent that is killed during the pull does not know the ID.
	Image   string `json:"image"`
	Pending bool   `json:"pending,omitempty"`
	// Credentials are hashes of the credentials with which the image was pulled.
	Credentials []string `json:"credentials,omitempty"`
	// Owners are the tenants that pulled it, "" for the operator.
	Owners []string `json:"owners,omitempty"`
}

// PulledImages stores one record per image.
type PulledImages = Table[string, PulledImage, *PulledImage]

// PulledImages returns the store of records of images that were pulled with credentials.
func (d *Dir) PulledImages() PulledImages { return PulledImages{d, pulledDir} }

func (i *PulledImage) String() string { return "record of the pull of image " + i.Image }

func (i *PulledImage) key() string { return i.Image }

func (i *PulledImage) usable() error {
	if i.Image == "" {
		return errors.New("it is about no image")
	}
	return nil
}

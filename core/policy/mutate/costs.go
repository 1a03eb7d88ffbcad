package mutate

import (
	"encoding/json"
	"regexp"
)

// maxQuantity is the greatest length of a quantity, in bytes.
const maxQuantity = 64

// hugeExponent matches quantities that cost far more than their length: they are
// compared digit by digit, and 1e999999999 has a billion digits.
var hugeExponent = regexp.MustCompile(`[eE][+-]?[0-9]{3}`)

// maxImages bounds the total length of the image names that a patch writes, in
// bytes. Validating them as image references is slow.
const maxImages = 64 << 10

// checkCosts refuses differences that would cost far more than their length to
// decode and validate.
func checkCosts(differences []difference) error {
	var err error
	images := 0
	for i := range differences {
		each(differences[i].at, differences[i].after, func(at pointer, value any) bool {
			switch text := value.(type) {
			case json.Number:
				err = checkQuantity(at, string(text))
			case string:
				err = checkQuantity(at, text)
				if len(at) > 0 && at[len(at)-1] == "image" {
					images += len(text)
				}
			}
			if images > maxImages {
				err = badPatch("%s: the names of images have more than %d bytes together: no registry has such", shown(at.String()), maxImages)
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func checkQuantity(at pointer, text string) error {
	if (len(text) > maxQuantity || hugeExponent.MatchString(text)) && typeAt(at) == quantityType {
		return badPatch("%s: the quantity is far too large, or too exact", shown(at.String()))
	}
	return nil
}

package mutate

import (
	"encoding/json"
	"regexp"
)

// maxQuantity is the greatest length of a quantity, in bytes.
const maxQuantity = 64

// hugeExponent is in quantities that cost far more than their length: they are
// compared digit by digit, and 1e999999999 has a billion.
var hugeExponent = regexp.MustCompile(`[eE][+-]?[0-9]{3}`)

// maxImages is how many bytes the names of images that a patch writes may have
// together. They are matched against what a registry takes, slowly.
const maxImages = 64 << 10

// checkCosts refuses what is different and would cost far more than its length
// to decode and validate.
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

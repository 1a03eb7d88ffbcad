package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/signed"
)

func (a *app) policyVerifyCommand() *cobra.Command {
	var (
		names  []string
		output string
	)
	cmd := &cobra.Command{
		Use:   "verify DIR --key PUBLICKEY",
		Short: "Verify that a directory has the policies that were signed",
		Long: "Compares the policies of a directory with its set.toml, and set.toml with its signature\n" +
			"set.toml.minisig, and prints what was signed and by which key, or every reason why this is not the\n" +
			"set that was signed. A key is the line that \"wardlet policy sign\" and minisign print, or the file\n" +
			"with it; if several are named, one of them must have signed. The last revision that an agent\n" +
			"accepted is not checked. The exit status is 1 if the set does not verify.",
		Example: "  wardlet policy verify /etc/wardlet/policies --key RWR9znGJQMfc8vhl0AobYNUKTUsOjcn4KcE4xFmZBmv88q3K+ER2xkMU\n" +
			"  wardlet policy verify policies --key minisign.pub --key old.pub",
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			if len(names) == 0 {
				return cli.WrongUsage(cmd, errors.New("name the public key that must have signed the set, or its file, with --key"))
			}
			keys := make([]signed.PublicKey, len(names))
			for i, name := range names {
				var err error
				if keys[i], err = publicKey(cmd.Context(), name); err != nil {
					return err
				}
			}
			return a.verifyPolicies(args[0], output, keys)
		},
	}
	cli.AddObjectFlag(cmd, &output)
	cmd.Flags().StringArrayVar(&names, "key", nil, "a `PUBLICKEY`, or a file with it; may be repeated")
	return cmd
}

// publicKey accepts a key or the name of its file. It does not quote any other text, which may be a
// secret key.
func publicKey(ctx context.Context, name string) (signed.PublicKey, error) {
	key, notAKey := signed.ParseKey(name)
	if notAKey == nil {
		return key, nil
	}
	text, err := cli.ReadUntil(ctx, name, func() ([]byte, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readShort(name, f)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENAMETOOLONG):
		return key, fmt.Errorf("--key names no file, and as a key: %w", notAKey)
	case err != nil:
		return key, err
	}
	if key, err = signed.ParseKey(string(text)); err != nil {
		return key, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// verifyReport describes what was signed, or why the directory does not match the signature.
type verifyReport struct {
	Verified bool `json:"verified"`
	*verifiedSet
	Faults []author.Fault `json:"faults"`
}

// verifiedSet describes the signed set and its signer.
type verifiedSet struct {
	Revision uint64 `json:"revision"`
	Files    int    `json:"files"`
	Key      string `json:"key"`
	Comment  string `json:"comment"`
}

// verifyPolicies continues after a fault, to report all faults.
func (a *app) verifyPolicies(dir, output string, keys []signed.PublicKey) error {
	pair, unread := signed.Read(dir)
	if pair == nil {
		return unread
	}
	wrong := []error{unread}
	manifest, signature := filepath.Join(dir, signed.ManifestName), filepath.Join(dir, signed.SignatureName)
	var m *signed.Manifest
	if pair.Manifest != nil {
		var err error
		m, err = signed.ParseManifest(manifest, pair.Manifest)
		wrong = append(wrong, err)
	} else if unread == nil {
		wrong = append(wrong, author.InFile(manifest, errors.New("missing; sign the set with \"wardlet policy sign\"")))
	}
	var id, comment string
	if pair.Manifest != nil && (pair.Signature != nil || unread == nil) {
		var err error
		if id, comment, err = signed.VerifyComment(pair.Manifest, pair.Signature, keys); err != nil {
			wrong = append(wrong, author.InFile(signature, err))
		}
	}
	sums, err := author.SetFiles(dir)
	wrong = append(wrong, err)
	switch {
	case m == nil:
	case err != nil: // the rest of the signed documents is unknown
		wrong = append(wrong, author.InFile(manifest, errors.New("not compared with its files, which cannot all be read")))
	default:
		if err := m.Check(sums); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				file, fault, _ := strings.Cut(line, ": ")
				wrong = append(wrong, author.InFile(strings.TrimSuffix(dir, "/")+"/"+file, errors.New(fault)))
			}
		}
	}
	fault := errors.Join(wrong...)
	if output != "" {
		r := verifyReport{Verified: fault == nil, Faults: append([]author.Fault{}, author.Faults(fault)...)}
		if r.Verified {
			r.verifiedSet = &verifiedSet{m.Revision, len(m.Files), id, comment}
		}
		if err := cli.PrintObject(a.Out, output, r); err != nil {
			return err
		}
	}
	switch {
	case fault != nil:
		return reasons(dir+" has not the set that was signed", fault)
	case output != "":
		return nil
	}
	t := cli.Table{W: a.Out}
	t.Print(
		[]string{"Revision:", strconv.FormatUint(m.Revision, 10)},
		[]string{"Files:", strconv.Itoa(len(m.Files))},
		[]string{"Key:", id},
		[]string{"Comment:", comment},
	)
	return nil
}

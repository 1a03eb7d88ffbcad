package policycmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/signed"
	"github.com/wardlet/wardlet/core/printable"
)

// maxKeyFile is the maximum size of a file with a key or a password, in bytes.
const maxKeyFile = 4 << 10

// signing are the flags of sign.
type signing struct {
	key, passwordFile string
	revision          uint64
	generate          bool
	allowEmpty        bool
	output            string
}

func (a *app) policySignCommand() *cobra.Command {
	var s signing
	cmd := &cobra.Command{
		Use:   "sign DIR --key FILE",
		Short: "Sign the policies of a directory as one set",
		Long: "Writes two files to the directory of the policies: set.toml, which lists every document, module\n" +
			"and test pod of the set with its digest, and set.toml.minisig, its signature. An agent that\n" +
			"requires signatures accepts the set only as it was signed, and no revision below the last one that\n" +
			"it accepted: without --revision the one of set.toml plus 1 is written. Make all changes first,\n" +
			"sign last. No plugin is loaded and no test is run: \"wardlet policy lint DIR\" says whether an agent\n" +
			"would accept the set. A directory that becomes empty keeps its policies in force, unless an empty\n" +
			"set was signed with --allow-empty.\n\n" +
			"The key is a secret key of minisign that only its owner can read. If it has a password, that is\n" +
			"read from --password-file or asked for on the terminal; using it takes some seconds and 1 GiB of\n" +
			"memory. --generate makes a key without a password instead of signing, and prints the line with\n" +
			"which an agent trusts it; \"minisign -C -s FILE\" adds a password.",
		Example: "  wardlet policy sign --generate --key wardlet.key\n" +
			"  wardlet policy sign /etc/wardlet/policies --key wardlet.key\n" +
			"  wardlet policy sign policies --key ~/.minisign/minisign.key --password-file password --revision 12",
		Args: func(cmd *cobra.Command, args []string) error {
			if s.generate && len(args) > 0 {
				return cli.WrongUsage(cmd, fmt.Errorf("--generate makes a key and signs nothing; leave out %q", args[0]))
			}
			if s.generate {
				return nil
			}
			return oneDirectory(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantsObject(cmd, s.output); err != nil {
				return err
			}
			switch {
			case s.key == "":
				return cli.WrongUsage(cmd, errors.New("name the file of the secret key with --key; --generate makes one"))
			case cmd.Flags().Changed("revision") && s.revision == 0:
				return cli.WrongUsage(cmd, errors.New("--revision is 1 or more"))
			case s.generate:
				return a.generateKey(s.key, s.output)
			}
			return a.signPolicies(cmd, args[0], &s)
		},
	}
	cmd.Flags().StringVar(&s.key, "key", "", "`FILE` of the secret key")
	cmd.Flags().StringVar(&s.passwordFile, "password-file", "", "`FILE` whose first line is the password of the key")
	cmd.Flags().Uint64Var(&s.revision, "revision", 0, "revision `N` of the set, 1 or more (default: the last one plus 1)")
	cmd.Flags().BoolVar(&s.generate, "generate", false, "make a key, in a new file")
	cli.AddObjectFlag(cmd, &s.output)
	cmd.Flags().BoolVar(&s.allowEmpty, "allow-empty", false, "sign a set without policies: none is in force then")
	return cmd
}

// oneDirectory checks that there is one argument.
func oneDirectory(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return cli.WrongUsage(cmd, fmt.Errorf("%q takes the DIR of the policies; found none", cmd.CommandPath()))
	case 1:
		return nil
	}
	return cli.WrongUsage(cmd, fmt.Errorf("%q takes one DIR, found also %q", cmd.CommandPath(), args[1]))
}

// signedSet describes the signed set and the key that signed it.
type signedSet struct {
	Revision  uint64 `json:"revision"`
	Files     int    `json:"files"`
	Key       string `json:"key"`
	PublicKey string `json:"publicKey"`
}

// signPolicies asks for a password only after all other checks have passed.
func (a *app) signPolicies(cmd *cobra.Command, dir string, s *signing) error {
	sums, err := author.SetFiles(dir)
	if err != nil {
		return reasons("the policies cannot be signed", err)
	}
	if len(sums) == 0 && !s.allowEmpty {
		return fmt.Errorf("%s has no policies, and a signed set without any would put all out of force; name the directory that has them, or mean it with --allow-empty", dir)
	}
	old, err := signed.Read(dir)
	if err != nil {
		return reasons("the policies cannot be signed", err)
	}
	revision, err := signed.NextRevision(filepath.Join(dir, signed.ManifestName), old.Manifest, s.revision)
	if err != nil {
		return reasons("the policies cannot be signed", err)
	}
	key, err := readSecretKey(cmd, s)
	if err != nil {
		return err
	}
	pair, err := signed.Sign(revision, sums, key, a.Now())
	if err == nil {
		err = pair.Write(dir)
	}
	if err != nil {
		return reasons("the policies cannot be signed", err)
	}
	if s.output != "" {
		return cli.PrintObject(a.Out, s.output, signedSet{revision, len(sums), key.Public().ID(), key.Public().String()})
	}
	t := cli.Table{W: a.Out}
	t.Print(
		[]string{"Revision:", strconv.FormatUint(revision, 10)},
		[]string{"Files:", strconv.Itoa(len(sums))},
		[]string{"Key:", key.Public().ID()},
		[]string{"Public key:", key.Public().String()},
	)
	return nil
}

// reasons returns an error of one or more lines below a heading. The lines may quote untrusted
// names.
func reasons(heading string, err error) error {
	var text strings.Builder
	text.WriteString(heading + ":")
	for line := range strings.Lines(err.Error()) {
		text.WriteString("\n" + printable.Line(strings.TrimSuffix(line, "\n")))
	}
	return errors.New(text.String())
}

func readSecretKey(cmd *cobra.Command, s *signing) (*signed.SecretKey, error) {
	text, err := readSecret(cmd.Context(), s.key)
	if err != nil {
		return nil, err
	}
	key, err := signed.ParseSecretKey(text, func() (string, error) { return password(cmd, s) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.key, err)
	}
	return key, nil
}

// readSecret reads a file that must be readable only by its owner.
func readSecret(ctx context.Context, name string) ([]byte, error) {
	return cli.ReadUntil(ctx, name, func() ([]byte, error) { return openSecret(name) })
}

func openSecret(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s can be used by others (its mode is %04o): \"chmod 600\" it; what others may have read, replace by a new one", name, mode)
	}
	return readShort(name, f)
}

// readShort reads a file with a key or a password.
func readShort(name string, f io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(text) > maxKeyFile {
		err = fmt.Errorf("%s has more than the %d bytes of a key or a password; name another file", name, maxKeyFile)
	}
	return text, err
}

// password returns the password of the key from its file or from the terminal.
func password(cmd *cobra.Command, s *signing) (string, error) {
	if s.passwordFile != "" {
		text, err := readSecret(cmd.Context(), s.passwordFile)
		if err != nil {
			return "", err
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
			return "", fmt.Errorf("the first line of %s, which should be the password, is empty", s.passwordFile)
		}
		return string(line), nil
	}
	if in, ok := cmd.InOrStdin().(*os.File); ok && cli.IsTerminal(in) {
		return askPassword(cmd.Context(), in, cmd.ErrOrStderr(), "Password of "+s.key+": ")
	}
	return "", errors.New("the key has a password, and standard input is no terminal to ask for it; name a file with it as --password-file")
}

// askPassword reads a line from a terminal without echo. If ctx ends first, it returns an error and
// does not wait for the read.
func askPassword(ctx context.Context, in *os.File, out io.Writer, prompt string) (_ string, err error) {
	fd := int(in.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return "", err
	}
	silent := *before
	silent.Lflag = silent.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
	silent.Iflag |= unix.ICRNL
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &silent); err != nil {
		return "", err
	}
	defer func() {
		fmt.Fprintln(out)
		err = errors.Join(err, unix.IoctlSetTermios(fd, unix.TCSETS, before))
	}()
	fmt.Fprint(out, prompt)
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line := make([]byte, maxKeyFile)
		n, err := in.Read(line) // a read from a terminal returns at most a line
		read <- answer{string(line[:n]), err}
	}()
	select {
	case a := <-read:
		if a.err != nil {
			return "", fmt.Errorf("no password was read: %w", a.err)
		}
		return strings.TrimSuffix(a.line, "\n"), nil
	case <-ctx.Done():
		return "", fmt.Errorf("no password was read: %w", ctx.Err())
	}
}

// generatedKey describes a new key.
type generatedKey struct {
	// SecretKey is the path of its file.
	SecretKey string `json:"secretKey"`
	Key       string `json:"key"`
	PublicKey string `json:"publicKey"`
}

// generateKey writes a secret key to a new file.
func (a *app) generateKey(name, output string) error {
	key, err := signed.GenerateKey(nil)
	if err != nil {
		return err
	}
	text, err := key.MarshalText()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; name a new file, or sign with that one without --generate", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if output != "" {
		return cli.PrintObject(a.Out, output, generatedKey{name, key.Public().ID(), key.Public().String()})
	}
	t := cli.Table{W: a.Out}
	t.Print(
		[]string{"Secret key:", name + ", without a password"},
		[]string{"Key:", key.Public().ID()},
		[]string{"Public key:", key.Public().String()},
		[]string{"In agent.toml:", fmt.Sprintf("trusted_keys = [%q]", key.Public())},
	)
	return nil
}

package logs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowReader accepts text only after open is closed.
type slowReader struct {
	safeBuffer
	open chan struct{}
}

func (r *slowReader) Write(p []byte) (int, error) {
	<-r.open
	return r.safeBuffer.Write(p)
}

func compressFile(t *testing.T, path, text string) {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// A follower that is slower than the rotation continues where it stopped.
func TestCopy_followThroughRotatedFiles(t *testing.T) {
	t.Parallel()
	entry := func(text string) string { return "2026-01-02T03:04:05.00000000" + text + "Z stdout F " + text + "\n" }
	for name, test := range map[string]struct {
		// after are the log's files when the follower continues, by the part of the name behind the
		// log's name. The text of a .gz file is compressed. OWN stands for the file that the
		// follower was reading.
		after map[string]string
		want  string
	}{
		"the next file":              {map[string]string{".20260102-030405": "OWN", "": "2"}, "12"},
		"rotated twice":              {map[string]string{".20260102-030405": "OWN", ".20260102-030406": "2", "": "3"}, "123"},
		"compressed":                 {map[string]string{".20260102-030405.gz": "1", ".20260102-030406.gz": "2", ".20260102-030407": "3", "": "4"}, "1234"},
		"being compressed":           {map[string]string{".20260102-030405": "OWN", ".20260102-030405.gz": "1", ".20260102-030406": "2", "": "3"}, "123"},
		"older ones are over":        {map[string]string{".20260101-030405.gz": "0", ".20260102-030405": "OWN", "": "2"}, "12"},
		"its own was removed":        {map[string]string{".20260102-030406.gz": "2", ".20260102-030407": "3", "": "4"}, "1234"},
		"not rotated, but removed":   {map[string]string{".20260101-030405.gz": "0", "": "2"}, "12"},
		"files of others":            {map[string]string{".20260102-030405": "OWN", ".1": "8", ".20260102-030406.tmp": "9", "": "2"}, "12"},
		"more than one in a second":  {map[string]string{".20260102-030405.001.gz": "2", ".20260102-030405": "OWN", ".20260102-030405.002": "3", "": "4"}, "1234"},
		"after one of the same name": {map[string]string{".20260102-030405.gz": "0", ".20260102-030406": "OWN", "": "2"}, "12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				path := write(t, entry("1"))
				written := time.Date(2026, 1, 2, 3, 4, 5, 500_000_000, time.UTC)
				out := &slowReader{open: make(chan struct{})}
				runs := make(chan struct{})
				ended := make(chan error, 1)
				go func() {
					ended <- Copy(t.Context(), path, Options{Tail: -1, Limit: -1, Follow: true}, Output{Stdout: out}, func() bool {
						select {
						case <-runs:
							return false
						default:
							return true
						}
					})
				}()
				synctest.Wait() // the follower holds the first line
				own := filepath.Join(t.TempDir(), "own")
				if err := errors.Join(os.Chtimes(path, written, written), os.Rename(path, own)); err != nil {
					t.Fatal(err)
				}
				for suffix, text := range test.after {
					switch {
					case text == "OWN":
						if err := os.Rename(own, path+suffix); err != nil {
							t.Fatal(err)
						}
					case filepath.Ext(suffix) == CompressedSuffix:
						compressFile(t, path+suffix, entry(text))
					default:
						if err := os.WriteFile(path+suffix, []byte(entry(text)), 0o600); err != nil {
							t.Fatal(err)
						}
					}
				}
				close(out.open)
				time.Sleep(time.Minute)
				close(runs)
				var want string
				for _, text := range test.want {
					want += string(text) + "\n"
				}
				if err := <-ended; err != nil || out.String() != want {
					t.Errorf("%q, %v; want %q", out.String(), err, want)
				}
			})
		})
	}
}

// The runtime writes the rest of a rotated file after it has opened the next file.
func TestCopy_followReadsWhatComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := write(t, "2026-01-02T03:04:05Z stdout F one\n")
		var out safeBuffer
		ended := make(chan error, 1)
		var runs atomic.Bool
		runs.Store(true)
		go func() {
			ended <- Copy(t.Context(), path, Options{Tail: -1, Limit: -1, Follow: true}, Output{Stdout: &out}, runs.Load)
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		rotated := RotatedPath(path, time.Now(), time.Time{})
		if err := os.Rename(path, rotated); err != nil {
			t.Fatal(err)
		}
		put := func(path, text string) {
			t.Helper()
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err == nil {
				_, err = f.WriteString(text)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		put(path, "2026-01-02T03:04:07Z stdout F lf\n")
		runs.Store(false) // no line is lost if the container terminates in the meantime
		time.Sleep(settleTime / 2)
		put(rotated, "2026-01-02T03:04:06Z stdout P ha")
		put(rotated, "\n")
		if err := <-ended; err != nil || out.String() != "one\nhalf\n" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

// A log can also be read at the moment of its rotation.
func TestCopy_whileRotated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := write(t, "2026-01-02T03:04:05Z stdout F one\n")
		if err := os.Rename(path, RotatedPath(path, time.Now(), time.Time{})); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(settleTime/2, func() { overwrite(t, path, "2026-01-02T03:04:06Z stdout F two\n") })
		var out bytes.Buffer
		if err := Copy(t.Context(), path, Options{Tail: -1, Limit: -1}, Output{Stdout: &out}, nil); err != nil || out.String() != "two\n" {
			t.Errorf("%q, %v", out.String(), err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := Copy(t.Context(), path, Options{}, Output{}, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a log that does not come back: %v", err)
		}
	})
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

func TestRotatedPath(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse(rotatedFormat, text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for name, test := range map[string]struct {
		now, newest time.Time
		want        string
	}{
		"the first":             {at("20260102-030405.7"), time.Time{}, "20260102-030405"},
		"a later one":           {at("20260102-030405"), at("20260102-030404.999"), "20260102-030405"},
		"the second one":        {at("20260102-030405.7"), at("20260102-030405"), "20260102-030405.001"},
		"the third one":         {at("20260102-030405.7"), at("20260102-030405.001"), "20260102-030405.002"},
		"a clock that was back": {at("20160102-030405"), at("20260102-030405.999"), "20260102-030406.000"},
		"another zone":          {at("20260102-030405").In(time.FixedZone("", 3600)), time.Time{}, "20260102-030405"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := RotatedPath("/x/0.log", test.now, test.newest)
			if got != "/x/0.log."+test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if !at(got[len("/x/0.log."):]).After(test.newest) {
				t.Errorf("%s is not the newest", got)
			}
		})
	}
}

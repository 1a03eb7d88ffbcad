#!/bin/bash
# images.sh: makes the images which the tests name, as docker-archive tars in $CACHE/img. Names and tags are asked of e2e.test (--list-images),
# so that they are those of the version in k8smod. Called by build.sh. Needs debootstrap, gcc, make, bzip2, and what build.sh built before.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"; C=$CACHE
MIRROR=${MIRROR:-$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } | sed -nE 's/^(URIs:|deb) +(\[[^]]*\] +)?([^ ]+).*/\3/p' | grep -v security | head -1)}  # of Debian, as this machine is set up
SUITE=${SUITE:-bookworm} I=$C/img W=$C/img/work L=$C/img/work/layers; rm -f "$I"/*.tar "$I/.done"; mkdir -p "$L"; T0=$(date +%s)
M=$(cd "$HERE/kubernetes" && GOFLAGS=-buildvcs=false go list -m -f '{{.Dir}}' k8s.io/kubernetes)
ALL=${IMAGES:-$("$BIN/e2e.test" --list-images)}
refs() { grep -E "^[^/]+/(e2e-test-images/)?$1:" <<<"$ALL" | sort -V | grep . || { log "e2e.test names no image $1"; exit 1; }; }
tarl() { tar -C "$1" --sort=name --mtime=@0 --numeric-owner "${@:3}" -cf "$2" .; }
sum() { sha256sum "$1" | cut -d' ' -f1; }
zip() { [ -s "$1.gz" ] && [ "$1.gz" -nt "$1" ] || gzip -n -1 -c "$1" >"$1.gz"; }
config() { # config TAG CONFIG-JSON layer.tar...: the image's configuration; the tag is a label, so that two tags are two images
  local t=$1 c=$2 ids=, l; shift 2; for l; do ids="$ids,\"sha256:$(sum "$l")\""; done
  printf '{"architecture":"amd64","os":"linux","created":"2020-01-01T00:00:00Z","config":{"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],"Labels":{"tag":"%s"},%s},"rootfs":{"type":"layers","diff_ids":[%s]},"history":[]}' "$t" "$c" "${ids#,,}"; }
mkimg() { # mkimg NAME CONFIG-JSON layer.tar...: one tar for each tag of the image that the tests name
  local n=$1 c=$2 ref w names l d out; shift 2
  for ref in $(refs "$n"); do w=$(mktemp -d "$W/w.XXXX") names=
    for l; do d=$(sum "$l"); zip "$l"; ln "$l.gz" "$w/$d.tar.gz"; names="$names,\"$d.tar.gz\""; done
    config "${ref##*:}" "$c" "$@" >"$w/config.json"; printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":[%s]}]' "$ref" "${names#,}" >"$w/manifest.json"
    out=$I/$(basename "$ref" | tr : -).tar; tar -C "$w" --mtime=@0 -cf "$out.tmp" manifest.json config.json $(cd "$w"; ls *.tar.gz); mv "$out.tmp" "$out"; rm -rf "$w"; log "${ref##*/} $(stat -c%s "$out") bytes"; done; }
# base: Debian minbase + the tools that agnhost's Alpine base has (bind-tools curl netcat-openbsd iproute2 iperf bash util-linux)
if [ ! -s "$L/base.tar" ]; then s=$(date +%s)
  [ -x "$I/rootfs/usr/bin/curl" ] || debootstrap --variant=minbase --include=curl,bind9-dnsutils,netcat-openbsd,iproute2,iperf,ca-certificates "$SUITE" "$I/rootfs" "$MIRROR" >"$I/debootstrap.log" 2>&1
  tarl "$I/rootfs" "$L/base.tar" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists --exclude=./usr/share/doc --exclude=./usr/share/locale --exclude=./usr/share/man --exclude=./usr/share/info --exclude='./dev/*' --exclude='./proc/*' --exclude=./etc/resolv.conf --exclude=./etc/hostname
  log "Debian base $(($(date +%s) - s)) s"; fi
# pause: upstream's pause.c, static
d=$W/pause; mkdir -p "$d"; gcc -Os -Wall -static -DVERSION=v3.10 -o "$d/pause" "$M/build/pause/linux/pause.c"; strip "$d/pause"; tarl "$d" "$L/pause.tar" --owner=0 --group=0
P='"User":"65535:65535","Entrypoint":["/pause"]'; mkimg pause "$P" "$L/pause.tar"
# agnhost: the true program on a Debian instead of an Alpine base (no CoreDNS), with the images its fake-registry-server serves (pause:testing)
d=$W/agnhost; rm -rf "$d"; mkdir -p "$d"/{uploads,etc,home/user-defined-in-image,usr/local/bin}; cp "$BIN/agnhost" "$d/agnhost"; ln -sf agnhost "$d/agnhost-2"; ln -s /usr/bin/iperf "$d/usr/local/bin/iperf"; cp "$M"/test/images/agnhost/porter/localhost.{crt,key} "$d/"
cp "$I/rootfs/etc/passwd" "$I/rootfs/etc/group" "$d/etc/"
echo 'user-defined-in-image:x:1000:1000:Linux User,,,:/home/user-defined-in-image:/bin/sh' >>"$d/etc/passwd"
printf 'user-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n' >>"$d/etc/group"
put() { local s; s=$(sum "$2"); mkdir -p "$1/sha256/${s:0:2}/$s"; cp "$2" "$1/sha256/${s:0:2}/$s/data"; echo "sha256:$s"; }  # the layout that prepare_registry.sh makes
read -r img tag itag <"$M/test/images/agnhost/fakeregistryserver/images.txt"; [ "$img" = pause ] || { log "fake registry: $img is new, images.sh makes pause only"; exit 1; }
r=$d/var/registry/$img; mkdir -p "$r/manifests"; zip "$L/pause.tar"; config "$tag" "$P" "$L/pause.tar" >"$W/pause.json"; O=application/vnd.oci.image
printf '{"schemaVersion":2,"mediaType":"%s.manifest.v1+json","config":{"mediaType":"%s.config.v1+json","digest":"%s","size":%s},"layers":[{"mediaType":"%s.layer.v1.tar+gzip","digest":"%s","size":%s}]}' $O $O \
  "$(put "$r/blobs" "$W/pause.json")" "$(stat -c%s "$W/pause.json")" $O "$(put "$r/blobs" "$L/pause.tar.gz")" "$(stat -c%s "$L/pause.tar.gz")" >"$W/pause.manifest"
put "$r/manifests" "$W/pause.manifest" >"$r/manifests/$itag"
tarl "$d" "$L/agnhost.tar" --owner=0 --group=0; A='"Entrypoint":["/agnhost"],"Cmd":["pause"]'; mkimg agnhost "$A" "$L/base.tar" "$L/agnhost.tar"
# kitten: agnhost and two files
d=$W/kitten; mkdir -p "$d"; cp "$M"/test/images/kitten/html/{kitten.jpg,data.json} "$d/"; tarl "$d" "$L/kitten.tar" --owner=0 --group=0
mkimg kitten '"Entrypoint":["/agnhost"],"Cmd":["test-webserver"]' "$L/base.tar" "$L/agnhost.tar" "$L/kitten.tar"
# busybox: upstream's source with defconfig (fetched through apt-get source from Debian 13), dynamic with glibc, so that name lookups work.
# (Debian 12's own busybox 1.35 does NOT do: its ash drops environment names such as data-1; its static build crashes in wget -T.)
d=$W/busybox v=$(refs busybox); v=${v##*:}; v=${v%-*}; B=$C/bbsrc/busybox-$v; if [ ! -x "$B/busybox" ]; then mkdir -p "$C"/bbsrc "$C"/apt/{lists/partial,cache/archives/partial}; s=$(date +%s)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR ${BUSYBOX_SUITE:-trixie} main" >"$C/apt/sources.list"
  O="-o Dir::Etc::sourcelist=$C/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$C/apt/lists -o Dir::Cache=$C/apt/cache -o APT::Sandbox::User=root"
  (cd "$C/bbsrc"; apt-get $O update && apt-get $O source --download-only busybox && tar xjf "busybox_$v.orig.tar.bz2" && cd "busybox-$v" && make defconfig && nice -n 10 make -j2) >"$C/busybox-build.log" 2>&1 || { tail "$C/busybox-build.log" >&2; exit 1; }
  log "busybox build $(($(date +%s) - s)) s"; fi
if [ ! -x "$d/bin/busybox" ]; then rm -rf "$d"; mkdir -p "$d"/{bin,etc,tmp,root,home,dev,proc,sys,usr/bin,usr/sbin,var/spool/mail,var/www,lib/x86_64-linux-gnu,lib64}; chmod 1777 "$d/tmp"; cp "$B/busybox" "$d/bin/"
  cp -L /lib/x86_64-linux-gnu/{libc.so.6,libresolv.so.2,libm.so.6,libnss_dns.so.2,libnss_files.so.2} "$d/lib/x86_64-linux-gnu/"; cp -L /lib64/ld-linux-x86-64.so.2 "$d/lib64/"
  for a in $("$d/bin/busybox" --list); do [ "$a" = busybox ] || ln -sf busybox "$d/bin/$a"; done; ln -s ../../bin/env "$d/usr/bin/env"
  printf 'root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\nbin:x:2:2:bin:/bin:/bin/false\nsys:x:3:3:sys:/dev:/bin/false\nsync:x:4:100:sync:/bin:/bin/sync\nmail:x:8:8:mail:/var/spool/mail:/bin/false\nwww-data:x:33:33:www-data:/var/www:/bin/false\noperator:x:37:37:Operator:/var:/bin/false\nnobody:x:65534:65534:nobody:/home:/bin/false\n' >"$d/etc/passwd"
  printf 'root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\ndisk:x:6:\nwheel:x:10:root\nmail:x:8:\nutmp:x:43:\nusers:x:100:\nnobody:x:65534:\n' >"$d/etc/group"
  printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$d/etc/nsswitch.conf"; fi
tarl "$d" "$L/busybox.tar" --owner=0 --group=0; mkimg busybox '"Cmd":["sh"]' "$L/busybox.tar"
# nonroot (upstream: Debian's base with USER 1234), nonewprivs (upstream's nnp.go, setuid), glibc-dns-testing (upstream: Debian's base with dnsutils)
mkimg nonroot '"User":"1234","Cmd":["bash"]' "$L/base.tar"
d=$W/nnp; mkdir -p "$d/usr/local/bin"; cp "$BIN/nonewprivs" "$d/usr/local/bin/nnp"; chmod 6755 "$d/usr/local/bin/nnp"; tarl "$d" "$L/nnp.tar" --owner=0 --group=0
mkimg nonewprivs '"Cmd":["nnp"]' "$L/base.tar" "$L/nnp.tar"; mkimg glibc-dns-testing '"Cmd":["bash"]' "$L/base.tar"
# nginx, a stand-in: Debian's nginx-light installed over the base (overlay: the upper directory is the layer)
p=nginx-light; if [ ! -s "$L/$p.tar" ]; then o=$W/ov-$p; mkdir -p "$o"/{upper,work,merged}; s=$(date +%s)
  mount -t overlay overlay -o "lowerdir=$I/rootfs,upperdir=$o/upper,workdir=$o/work" "$o/merged"; cp /etc/resolv.conf "$o/merged/etc/resolv.conf"
  printf '#!/bin/sh\nexit 101\n' >"$o/merged/usr/sbin/policy-rc.d"; chmod +x "$o/merged/usr/sbin/policy-rc.d"
  (chroot "$o/merged" sh -c "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $p" >"$o.log" 2>&1) || { tail "$o.log" >&2; umount "$o/merged"; exit 1; }
  umount "$o/merged"; find "$o/upper" -type c -delete
  tarl "$o/upper" "$L/$p.tar" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists --exclude=./usr/share/doc --exclude=./etc/resolv.conf; log "nginx $(($(date +%s) - s)) s"; fi
mkimg nginx '"Cmd":["nginx","-g","daemon off;"]' "$L/base.tar" "$L/nginx-light.tar"
refs pause | tail -1 >"$I/pause.ref"; touch "$I/.done"; log "images are there after $(($(date +%s) - T0)) s"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the site builds; no link or anchor of it leads nowhere, each
# manual page is there, and what belongs to mandoc is not shown as text.
# Timeout: 120
set -u
. "$(dirname "$0")/../neg/neg.inc"
command -v mandoc >/dev/null && mkdocs build --help 2>&1 | grep -q material ||
    skip 'no mkdocs with its theme material'
work=$PWD
cd "$SRC" || exit 1
build=$(cd "$BUILD" && pwd)
mkdir -p "$work/build/obj"
ln -s "$build/obj/share" "$work/build/obj/share"
python3 docs/site/build.py "$work/build" "$work/html" >"$work/said" 2>&1 ||
    fail "build.py: $(tail -n 20 "$work/said")"
[ ! -s "$work/said" ] || fail "build.py: $(head -n 20 "$work/said")"
cd "$work/html" || exit 1

for page in "$SRC"/man/*.[137]; do
    name=$(basename "$page")
    [ -s "man/$name.html" ] || [ "$name" = osu_oshm.1 ] || fail "no man/$name"
done
for page in man/shmem_env.7.html man/shmem_errors.7.html start/gpu.html \
    guide/diagnose.html results/headlines.html decisions/README.html; do
    [ -s "$page" ] || [ -s "$(dirname "$page")/index.html" ] || fail "no $page"
done
[ -s search/search_index.json ] || fail 'no search'
grep -q 'shmem_long_put' search/search_index.json || fail 'no names to search'
# Nothing is loaded from elsewhere.
grep -rlE '(src|href)="https?://[^"]*\.(js|css|woff2?)' --include='*.html' . |
    head -n 3 >"$work/foreign"
[ ! -s "$work/foreign" ] || fail "foreign files: $(cat "$work/foreign")"

python3 - >"$work/dead" <<'P'
import html.parser, os, sys, urllib.parse

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ('id', 'name') and value:
                self.ids.add(value)
            if key in ('href', 'src') and value:
                self.links.append(value)

pages = {}
for base, _, names in os.walk('.'):
    for name in names:
        if name.endswith('.html') and name != '404.html':
            path = os.path.normpath(os.path.join(base, name))
            pages[path] = Page()
            pages[path].feed(open(path, encoding='utf-8').read())
for path, page in sorted(pages.items()):
    for link in page.links:
        url = urllib.parse.urlsplit(link)
        if url.scheme or url.netloc:
            continue
        target = path
        if url.path:
            target = os.path.normpath(os.path.join(
                os.path.dirname(path), urllib.parse.unquote(url.path)))
        if os.path.isdir(target):
            target = os.path.join(target, 'index.html')
        if not os.path.exists(target):
            print('%s: %s' % (path, link))
        elif url.fragment and target in pages and urllib.parse.unquote(
                url.fragment) not in pages[target].ids:
            print('%s: no anchor %s' % (path, link))
P
[ ! -s "$work/dead" ] || fail "dead links: $(sort -u "$work/dead" | head -n 20)"
finish 'the site'

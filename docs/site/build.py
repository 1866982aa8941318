#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the documentation site: `make site` calls it.

It copies the pages of the repository and the manual pages, as mandoc's HTML,
into one tree, turns links between files into links between pages, and runs
MkDocs, which ends with an error if a link leads nowhere.

usage: build.py BUILD SITE   (the build directory with obj/share/man; the result)
"""
import os
import re
import shutil
import subprocess
import sys

# Pages of the repository that are not below docs/, and their places.
MOVED = {
    'README.md': 'index.md',
    'CONTRIBUTING.md': 'contributing.md',
    'CHANGELOG.md': 'changelog.md',
    'examples/README.md': 'examples.md',
}
SECTIONS = {
    '1': 'Programs', '3': 'Calls', '7': 'Overviews',
}
NAV = [
    ('Home', 'index.md'),
    ('Getting started', [
        'start/openshmem.md', 'start/mpi.md', 'start/gpu.md',
        'guide/device_names.md', 'guide/sites.md']),
    ('Guides', [
        'guide/concepts.md', 'guide/on_a_stream.md', 'guide/in_a_kernel.md', 'guide/diagnose.md',
        'guide/tuning.md', 'guide/measure.md', 'examples.md']),
    ('Reference', None),
    ('Results', None),
    ('Development', [
        'ARCHITECTURE.md', 'kernel_side.md', 'contributing.md', 'changelog.md', 'decisions/README.md']),
]


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def site_path(path):
    """The page of a file of the repository, or None."""
    path = os.path.normpath(path)
    if path in MOVED:
        return MOVED[path]
    if path.startswith('docs/') and not path.startswith('docs/site/') and \
            path.endswith(('.md', '.svg')):
        return path[len('docs/'):]
    return None


class Manual:
    """The manual pages, and the names that lead to them."""

    def __init__(self, tree):
        self.tree = tree
        self.pages = {}         # (name, section): file
        self.names = {}         # (name, section): (page, section)
        self.about = {}
        for section in SECTIONS:
            folder = os.path.join(tree, 'man' + section)
            for entry in sorted(os.listdir(folder)):
                name = entry[:-2]
                page = self.page_of(os.path.join(folder, entry))
                self.names[name, section] = page
                self.pages[page] = '%s/man%s/%s.%s' % (tree, page[1], *page)

    def page_of(self, path):
        """The page that a file is, or to which its .so line leads."""
        text = read(path)
        entry = os.path.basename(text.split()[1] if text.startswith('.so ')
                                 else path)
        return entry[:-2], entry[-1]

    def link(self, name, section):
        page = self.names.get((name, section))
        return '%s.%s.md' % page if page else None

    def convert(self, page, path):
        """The page as Markdown that holds mandoc's HTML."""
        text = subprocess.run(
            ['mandoc', '-Thtml', '-Ofragment,man=man:%N.%S', os.path.realpath(path)],
            check=True, capture_output=True, text=True).stdout
        text = text[text.index('<div class="manual-text">'):]
        foot = text.find('<table class="foot">')
        if foot >= 0:
            text = text[:foot]

        def replace(match):
            name, section, label = match.groups()
            target = self.link(name, section)
            if target:
                return '<a class="Xr" href="%s">%s</a>' % (
                    target.replace('.md', '.html'), label)
            return '<span class="Xr">%s</span>' % label
        text = re.sub(r'<a class="Xr" href="man:([^"]+)\.(\d\w*)">(.*?)</a>',
                      replace, text, flags=re.S)
        # An include file is no page.
        text = re.sub(r'<a class="In">(.*?)</a>', r'\1', text, flags=re.S)
        about = re.search(r'class="Nd">(.*?)</(?:span|div)>', text, re.S)
        if not about:
            sys.exit('build.py: %s: no description' % path)
        self.about[page] = re.sub(r'<[^>]*>|\s+', ' ', about.group(1)).strip()
        others = [n for (n, s), p in self.names.items()
                  if p == page and (n, s) != page]
        more = ''
        if others:
            more = ('\n\n??? note "All %d names of this page"\n\n    %s\n' % (
                len(others) + 1, ' '.join('`%s`' % n for n in sorted(others))))
        return '---\ntitle: %s(%s)\n---\n\n# %s(%s)\n\n%s%s\n' % (
            page + page + (text.rstrip(), more))

    def write(self, folder):
        for page, path in self.pages.items():
            write('%s/man/%s.%s.md' % (folder, *page), self.convert(page, path))
        lines = ['# Manual\n', 'The pages are those of `man`.\n']
        for section in ('7', '1', '3'):
            lines.append('\n## %s\n\n| page | |\n|---|---|' % SECTIONS[section])
            for page in sorted(p for p in self.pages if p[1] == section):
                lines.append('| [%s(%s)](%s.%s.md) | %s |' % (
                    page + page + (self.about[page],)))
        write(folder + '/man/README.md', '\n'.join(lines) + '\n')


def relink(text, path, here, manual):
    """Links of a file of the repository as links of its page."""
    def replace(match):
        image, label, target = match.groups()
        if re.match(r'[a-z]+:|#', target):
            return match.group(0)
        file, _, anchor = target.partition('#')
        page = site_path(os.path.join(os.path.dirname(path), file))
        if not page:            # a source, which the site does not have
            return label
        page = os.path.relpath(page, os.path.dirname(here) or '.')
        return '%s[%s](%s%s)' % (image, label, page,
                                 '#' + anchor if anchor else '')

    def refer(match):
        target = manual.link(*match.groups())
        if not target:
            return match.group(0)
        target = os.path.relpath('man/' + target, os.path.dirname(here) or '.')
        return '[%s](%s)' % (match.group(0), target)

    parts = re.split(r'(^ *```.*?^ *```$)', text, flags=re.S | re.M)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)',
                          replace, parts[i])
        parts[i] = re.sub(r'(?<!\[)`(\w+)\((\d)\)`(?!\])', refer, parts[i])
    return ''.join(parts)


def copy_pages(folder, manual):
    files = list(MOVED)
    for base, _, names in os.walk('docs'):
        files += [os.path.join(base, n) for n in names]
    for path in files:
        page = site_path(path)
        if not page:
            continue
        target = os.path.join(folder, page)
        if path.endswith('.md'):
            write(target, relink(read(path), path, page, manual))
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(path, target)


def title(folder, page):
    return re.search(r'^# +(.*)$', read(os.path.join(folder, page)), re.M).group(1)


def navigation(folder, manual):
    lines = ['nav:']

    def entry(page, depth=2, label=None):
        lines.append('%s- %s: %s' % ('  ' * depth, quote(
            label or title(folder, page)), page))

    def quote(text):
        return '"%s"' % text.replace('"', '\\"')
    for label, pages in NAV:
        if isinstance(pages, str):
            lines.append('  - %s: %s' % (label, pages))
            continue
        lines.append('  - %s:' % label)
        if label == 'Reference':
            entry('guide/compatibility.md')
            entry('man/README.md')
            for section in ('7', '1', '3'):
                lines.append('    - %s:' % SECTIONS[section])
                for page in sorted(p for p in manual.pages if p[1] == section):
                    entry('man/%s.%s.md' % page, 3, '%s(%s)' % page)
            continue
        if label == 'Results':
            first = ['results/README.md', 'results/plots.md', 'results/headlines.md',
                     'results/rows.md']
            rest = sorted('results/' + n for n in os.listdir(folder + '/results')
                          if n.startswith('20'))
            for page in first + rest:
                entry(page)
            continue
        for page in pages:
            entry(page)
        if label == 'Development':
            lines.append('    - Decisions:')
            for name in sorted(os.listdir(folder + '/decisions')):
                if name != 'README.md':
                    entry('decisions/' + name, 3)
    return '\n'.join(lines) + '\n'


def main():
    build, site = sys.argv[1:]
    work = os.path.join(build, 'obj', 'site')
    docs = os.path.join(work, 'docs')
    shutil.rmtree(work, ignore_errors=True)
    manual = Manual(os.path.join(build, 'obj', 'share', 'man'))
    manual.write(docs)
    copy_pages(docs, manual)
    shutil.copytree('docs/site/style', docs + '/style')
    write(work + '/mkdocs.yml', read('docs/site/mkdocs.yml') +
          navigation(docs, manual))
    sys.exit(subprocess.run(
        ['mkdocs', 'build', '--quiet', '--strict', '--clean', '--config-file',
         work + '/mkdocs.yml', '--site-dir', os.path.abspath(site)]).returncode)


if __name__ == '__main__':
    main()

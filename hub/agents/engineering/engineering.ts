import { basename } from 'node:path'
import { z } from 'zod'
import { bilingual, type Words } from '../../i18n/words.ts'
import { documentPath } from '../../projects/documents.ts'
import { fenced, heading, list, plain } from '../../projects/markdown.ts'
import { type AgentContext, type Fact, MissionFailure, type Result } from '../agent.ts'
import { givenText } from '../evidence/given.ts'
import { leftOutText } from '../left-out.text.ts'
import { clip } from '../run/facts.ts'
import { wordsOf } from '../run/words.ts'
import { stopText } from '../stop.text.ts'
import { saveDocument } from '../writing.ts'
import { applyEdits, type Change, patchOf } from './patch.ts'
import { syntaxOf } from './syntax.ts'

const stop = bilingual(stopText)
const told = bilingual(leftOutText)

/** A tree of files that a patch may be about; nothing is ever written into it. */
type Tree = {
  list: () => Promise<string[]>
  read: (path: string) => Promise<string | undefined>
}

const NEW_PATH = /^(?:[a-z0-9_][a-z0-9_-]*\/){0,4}[a-z0-9_][a-z0-9_.-]*\.[a-z0-9]{1,8}$/i
const MAX_FILE = 6000

const WORDS = {
  title: { en: 'Patch', tr: 'Yama' },
  files: { en: 'Files', tr: 'Dosyalar' },
  apply: {
    en: 'Nothing was changed. Read the patch; apply it with: git apply {path}',
    tr: 'Hiçbir şey değiştirilmedi. Yamayı okuyun; uygulamak için: git apply {path}',
  },
  applies: {
    en: 'The patch applies to the files as they are now. No test was run.',
    tr: 'Yama, dosyaların şu anki hâline uygulanabiliyor. Hiçbir test çalıştırılmadı.',
  },
  parsed: {
    en: 'Parsed with node --check: {x}',
    tr: 'node --check ile ayrıştırıldı: {x}',
  },
  unparsed: {
    en: 'Not parsed, because only JavaScript and TypeScript can be checked here: {x}',
    tr: 'Ayrıştırılmadı; burada yalnızca JavaScript ve TypeScript denetlenebilir: {x}',
  },
} satisfies Record<string, Words>

/**
 * patchMission plans, edits file by file and leaves a patch; it never applies one.
 *
 * @param most how many files of the tree the model is shown the names of.
 */
export async function patchMission(
  context: AgentContext,
  { tree, agent, below, most }: { tree: Tree; agent: string; below: string; most: number },
): Promise<Result> {
  const files = await context.outside('files', () => tree.list())
  const facts = await givenText(context)
  const there = namedFirst(files, context.mission.task).slice(0, most)
  if (there.length < files.length) context.leaveOut(told.files(there.length, files.length))
  // By number, because a name is untrusted text, and the form of the answer must not depend on
  // data.
  const labels = there.map((_, index) => `F${index + 1}`)
  const Plan = z.object({
    title: z.string().min(3).max(80),
    summary: z.string().max(400),
    change: z.array(z.enum(['none', ...labels])).max(2),
    create: z.array(z.string().max(80)).max(2),
  })
  const plan = await context.complete('plan', {
    schema: Plan,
    facts: [
      ...facts,
      {
        label: 'files',
        text: there.map((path, at) => `${labels[at]}: ${path}`).join('\n') || 'none yet',
      },
    ],
    task: 'Say by their numbers (F1, F2 …) which files have to be changed ("none" for a new file alone), and by their paths which have to be created, at most two of each, and what will be different.',
    check: ({ change, create }) => {
      const bad = create.find((path) => !NEW_PATH.test(path) || files.includes(path))
      if (bad !== undefined) return stop.no_new_name(bad)
      const some = change.filter((path) => path !== 'none').length + create.length
      return some === 0 ? stop.no_file_named : undefined
    },
  })
  const changed = [...new Set(plan.change.flatMap((label) => there[labels.indexOf(label)] ?? []))]
  const created = [...new Set(plan.create)]
  context.expect(4 + changed.length + created.length)
  const changes: Change[] = []
  for (const path of changed) changes.push(await edit(context, tree, path, plan.summary))
  for (const path of created) changes.push(await create(context, path, plan.summary))
  const real = changes.filter(({ before, after }) => before !== after)
  if (real.length === 0) throw new MissionFailure(stop.no_change)
  const checked: string[] = []
  for (const { path, after } of real) {
    const syntax = await context.outside(`syntax ${path}`, () => syntaxOf(path, after))
    if (!syntax.is_checked) continue
    if (syntax.error !== null) throw new MissionFailure(stop.broken_syntax(path, syntax.error))
    checked.push(path)
  }
  const unchecked = real.map(({ path }) => path).filter((path) => !checked.includes(path))
  const patch = patchOf(real.map((change) => ({ ...change, path: `${below}${change.path}` })))
  const path = await context.outside('patch', () =>
    context.write(documentPath(plan.title, context.mission.id, 'patch'), patch),
  )
  const say = (word: keyof typeof WORDS) => WORDS[word][context.language]
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent,
      title: plan.title,
      blocks: [
        plain(plan.summary),
        heading(2, say('files')),
        list(real.map((change) => change.path)),
        plain(say('apply').replace('{path}', path)),
        plain(say('applies')),
        checked.length > 0 && plain(say('parsed').replace('{x}', checked.join(', '))),
        unchecked.length > 0 && plain(say('unparsed').replace('{x}', unchecked.join(', '))),
        fenced(patch, 'diff'),
      ],
    }),
  )
  return {
    summary: plan.summary,
    documents: [document, { path, title: `${say('title')}: ${plan.title}` }],
  }
}

/** Files that the task names come first, because a small model cannot read all of them. */
function namedFirst(files: string[], task: string): string[] {
  const said = task.toLowerCase()
  const words = wordsOf(task)
  const isNamed = (path: string) => {
    const stem = basename(path).replace(/\.\w+$/, '')
    return (
      said.includes(basename(path).toLowerCase()) ||
      words.some((word) => word.replace(/s$/, '') === stem.toLowerCase().replace(/s$/, ''))
    )
  }
  return [...files.filter(isNamed), ...files.filter((path) => !isNamed(path))]
}

async function edit(
  context: AgentContext,
  tree: Tree,
  path: string,
  summary: string,
): Promise<Change> {
  const before = await context.outside(`read ${path}`, async () => {
    const text = await tree.read(path)
    if (text === undefined) throw new MissionFailure(stop.file_gone(path))
    if (text.length > MAX_FILE) {
      throw new MissionFailure(stop.file_too_long(path, text.length, MAX_FILE))
    }
    return text
  })
  const { edits } = await context.complete(`edit ${path}`, {
    schema: z.object({
      edits: z
        .array(z.object({ find: z.string().min(1).max(400), replace: z.string().max(900) }))
        .min(1)
        .max(3),
    }),
    facts: [{ label: path, text: before }, wanted(path, summary)],
    task: 'Change the file as it is wanted. Each edit names a text that stands exactly once in the file, letter by letter, and what stands there instead.',
    check: (value) => {
      const done = applyEdits(before, value.edits)
      return 'error' in done ? done.error : undefined
    },
  })
  const done = applyEdits(before, edits)
  if ('error' in done) throw new MissionFailure(done.error)
  return { path, before, after: done.after }
}

const wanted = (path: string, summary: string): Fact => ({
  label: 'what is wanted',
  text: `${path}: ${clip(summary, 400)}`,
})

async function create(context: AgentContext, path: string, summary: string): Promise<Change> {
  const { lines } = await context.complete(`create ${path}`, {
    schema: z.object({ lines: z.array(z.string().max(120)).min(1).max(60) }),
    facts: [wanted(path, summary)],
    task: 'Write the new file as it is wanted, line by line.',
  })
  return {
    path,
    before: '',
    after: `${lines.map((text) => text.replace(/[\r\n]/g, '')).join('\n')}\n`,
  }
}

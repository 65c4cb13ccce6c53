import type { Sql } from '../../shared/sql.ts'
import type { Deps } from '../deps.ts'
import { bilingual, type Language, verbatim, type Words } from '../i18n/words.ts'
import { readLicense } from '../license/license.ts'
import { readMail, readPause } from '../mail/settings.ts'
import { MODELS } from '../model/settings.ts'
import { readSetting } from '../ops/settings.ts'
import { namesOf } from '../projects/own-facts.ts'
import { missingSections, readContext } from '../projects/project-folder.ts'
import { type Kind, MAX_OF_A_KIND, type NextAction, NOTHING } from './next-action.ts'
import { nextActionText } from './next-actions.text.ts'
import { WORK } from './next-work.ts'

const say = bilingual(nextActionText)
const MAX_PROJECTS_READ = 50

/** nextActions lists what to do now, the most urgent first, from facts alone. */
export async function nextActions(sql: Sql, deps: Deps): Promise<NextAction[]> {
  const [row] = await sql<{ count: number }>`select count(*)::int as count from hub.projects`
  const settings = await fromSettings(deps)
  const isUrgent = ({ kind }: NextAction) => URGENT.has(kind)
  return [
    ...settings.filter(isUrgent),
    ...(row?.count === 0 ? [plain('create_project', null)] : []),
    ...(await fromRows(sql, deps)),
    ...(await fromFolders(sql, deps)),
    ...settings.filter((action) => !isUrgent(action)),
  ]
}

const URGENT = new Set<unknown>(['add_service_key', 'confirm_mail'] satisfies Kind[])

type PlainKind = {
  [K in keyof typeof say]: (typeof say)[K] extends Words ? K : never
}[keyof typeof say]

function plain(kind: PlainKind, setting: string | null): NextAction {
  const ref = setting ? { kind: 'settings' as const, id: setting } : null
  return { ...NOTHING, kind, title: say[kind], ref }
}

async function fromSettings({ config, key_role }: Deps): Promise<NextAction[]> {
  const { paths } = config
  const actions: NextAction[] = []
  if (key_role === 'hub_ro') actions.push(plain('add_service_key', 'service_key'))
  const pause = await readPause(paths)
  if (pause.reason) actions.push(plain('confirm_mail', 'mail'))
  const model = await readSetting(paths, MODELS)
  if (model.kind === 'none') actions.push(plain('choose_model', 'models'))
  const mail = await readMail(paths)
  if (!mail.smtp && !mail.listmonk) actions.push(plain('set_up_mail', 'mail'))
  const { status } = await readLicense(config)
  if (status === 'grace' || status === 'expired' || status === 'refused') {
    actions.push(plain('renew_license', 'license'))
  }
  return actions
}

/** Projects whose mails have nothing to say yet; the oldest ones of many. */
async function fromFolders(sql: Sql, { config }: Deps): Promise<NextAction[]> {
  const projects = await sql<{ slug: string; name: string }>`
    select slug, name from hub.projects order by created_at, id limit ${MAX_PROJECTS_READ}`
  const actions: NextAction[] = []
  for (const { slug, name } of projects) {
    const missing = missingSections(await readContext(config.paths, slug))
    if (missing.length === 0) continue
    const title = say.describe_project(name, namesOf(missing))
    actions.push({ ...NOTHING, kind: 'describe_project', title, name, project: slug })
  }
  return [...actions.slice(0, MAX_OF_A_KIND), ...moreOf(actions[0], actions.length)]
}

/** The rest of a kind as one action, behind those that are listed. */
function moreOf(first: NextAction | undefined, of_kind: number): NextAction[] {
  const count = of_kind - MAX_OF_A_KIND
  if (!first || count <= 0) return []
  const { kind, project } = first
  return [{ ...NOTHING, kind, project, title: say.more(count), count, is_rest: true }]
}

async function fromRows(sql: Sql, deps: Deps): Promise<NextAction[]> {
  const actions: NextAction[] = []
  for (const { kind, ref, find, title } of WORK) {
    const rows = await find(sql, deps)
    const from = actions.length
    for (const { id, days = 0, of_kind: _, ...found } of rows) {
      const { name = '', count = 1 } = found
      const names = typeof name === 'string' ? verbatim(name) : name
      const titleIn = (language: Language) =>
        title({ name: names[language], count, days })[language]
      actions.push({
        ...NOTHING,
        ...found,
        kind,
        title: { en: titleIn('en'), tr: titleIn('tr') },
        ref: ref && id ? { kind: ref, id } : null,
      })
    }
    actions.push(...moreOf(actions[from], rows[0]?.of_kind ?? 0))
  }
  return actions
}

import type { Sql } from '../../../shared/sql.ts'
import type { Words } from '../../i18n/words.ts'
import type { Audience } from '../../mail/drafts/audience.ts'
import { rejectDraft } from '../../mail/drafts/drafts.ts'
import type { AgentContext, Earlier, Fact, Thread } from '../agent.ts'

const REPLACED: Words = {
  en: 'Replaced by a newer version of the same conversation. An edit reopens it.',
  tr: 'Aynı görüşmedeki daha yeni bir sürümle değiştirildi. Düzenlerseniz yeniden açılır.',
}

/** Who asks for another mail beside the first does not want to lose that one. */
const BESIDE =
  /(?<!\p{L})(?:alternative|variant|another|second version|seçene[kğ]|alternatif|başka bir|ikinci bir)/iu

type Mail = Earlier['drafts'][number]

const isSame = (one: Audience, other: Audience) =>
  one.kind === 'lead' && other.kind === 'lead'
    ? one.lead_id === other.lead_id
    : JSON.stringify(one) === JSON.stringify(other)

/** The newest mail of the conversation for a reader. */
function mailFor(thread: Thread | undefined, audience: Audience): Mail | undefined {
  return thread?.earlier
    .flatMap(({ drafts }) => drafts)
    .findLast((draft) => isSame(draft.audience, audience))
}

/**
 * earlierMail returns the mail that is to be changed; for a reader who had none, that of
 * another, as the example to follow.
 */
export function earlierMail(thread: Thread | undefined, audience: Audience): Fact[] {
  const own = mailFor(thread, audience)
  const other = thread?.earlier.flatMap(({ drafts }) => drafts).at(-1)
  const mail = own ?? other
  if (!mail) return []
  const label = own
    ? 'your earlier letter to this reader'
    : 'your earlier letter to another reader, an example and not a source of facts'
  return [{ label, text: `${mail.subject}\n\n${mail.text}` }]
}

/**
 * replaceMail rejects the earlier mail to a reader who gets a newer one, so that nobody is
 * written to twice; one that was approved or has gone out stays.
 */
export async function replaceMail(
  sql: Sql,
  { thread, project, language }: AgentContext,
  audience: Audience,
): Promise<void> {
  const mail = mailFor(thread, audience)
  if (!mail || BESIDE.test(thread?.words ?? '')) return
  const [open] = await sql`
    select from hub.drafts where id = ${mail.id} and state in ('draft', 'rendered') for update`
  if (open) await rejectDraft(sql, project, mail.id, REPLACED[language])
}

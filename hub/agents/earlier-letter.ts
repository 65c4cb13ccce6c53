import type { Sql } from '../../shared/sql.ts'
import type { Words } from '../i18n/words.ts'
import type { Audience } from '../mail/drafts/audience.ts'
import { rejectDraft } from '../mail/drafts/drafts.ts'
import type { AgentContext, Earlier, Fact, Thread } from './agent.ts'

const REPLACED: Words = {
  en: 'Replaced by a newer version of the same conversation. An edit reopens it.',
  tr: 'Aynı görüşmedeki daha yeni bir sürümle değiştirildi. Düzenlerseniz yeniden açılır.',
}

/** Who asks for another letter beside the first does not want to lose that one. */
const BESIDE =
  /(?<!\p{L})(?:alternative|variant|another|second version|seçene[kğ]|alternatif|başka bir|ikinci bir)/iu

type Letter = Earlier['drafts'][number]

const isSame = (one: Audience, other: Audience) =>
  one.kind === 'lead' && other.kind === 'lead'
    ? one.lead_id === other.lead_id
    : JSON.stringify(one) === JSON.stringify(other)

/** The newest letter of the conversation for a reader. */
function letterFor(thread: Thread | undefined, audience: Audience): Letter | undefined {
  return thread?.earlier
    .flatMap(({ drafts }) => drafts)
    .findLast((draft) => isSame(draft.audience, audience))
}

/**
 * earlierLetter returns the letter that is to be changed; for a reader who had none, that of
 * another, as the example to follow.
 */
export function earlierLetter(thread: Thread | undefined, audience: Audience): Fact[] {
  const own = letterFor(thread, audience)
  const other = thread?.earlier.flatMap(({ drafts }) => drafts).at(-1)
  const letter = own ?? other
  if (!letter) return []
  const label = own
    ? 'your earlier letter to this reader'
    : 'your earlier letter to another reader, an example and not a source of facts'
  return [{ label, text: `${letter.subject}\n\n${letter.text}` }]
}

/**
 * replaceLetter rejects the earlier letter to a reader who gets a newer one, so that nobody is
 * written to twice; one that was approved or has gone out stays.
 */
export async function replaceLetter(
  sql: Sql,
  { thread, project, language }: AgentContext,
  audience: Audience,
): Promise<void> {
  const letter = letterFor(thread, audience)
  if (!letter || BESIDE.test(thread?.words ?? '')) return
  const [open] = await sql`
    select from hub.drafts where id = ${letter.id} and state in ('draft', 'rendered') for update`
  if (open) await rejectDraft(sql, project, letter.id, REPLACED[language])
}

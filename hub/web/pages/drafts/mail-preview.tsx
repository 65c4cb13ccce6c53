import { FileText } from 'lucide-react'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Empty } from '../../../../web/ui/states.tsx'
import type { View } from './address.ts'
import { cutAtSentences } from './cut-at-sentences.ts'
import { DiffView } from './diff-view.tsx'
import { draftsText } from './drafts.text.ts'
import { type Detailed, isProven } from './queries.ts'
import { plainMail } from './soft-breaks.ts'

/** The mail in the chosen view. */
export function MailPreview({
  detailed,
  view,
  marked,
  onMark,
}: {
  detailed: Detailed
  view: View
  /** The highlighted sentence. */
  marked: number | undefined
  onMark: (sentence: number | undefined) => void
}) {
  const text = useText(draftsText)
  const { draft, diff } = detailed
  if (view === 'changes') {
    return (
      <div className="mx-auto w-full max-w-2xl p-4 md:p-8">
        <p className="mb-4 text-sm text-muted">{diff ? text.changes_hint : text.no_changes}</p>
        {diff ? <DiffView patch={diff} isMail /> : null}
      </div>
    )
  }
  if (view === 'text' || draft.html === null) {
    return (
      <>
        {draft.html === null ? (
          <Empty
            className="py-8!"
            picture={<FileText size={24} strokeWidth={1.5} aria-hidden />}
            title={text.not_rendered.title}
            text={text.not_rendered.text}
          />
        ) : null}
        <Text detailed={detailed} marked={marked} onMark={onMark} />
      </>
    )
  }
  return (
    <div className="flex min-h-0 flex-1 justify-center p-3 md:p-6">
      <iframe
        // Another rendering is another document.
        key={draft.updated_at}
        title={text.preview}
        src={`/api/cockpit/draft/preview/${draft.id}`}
        sandbox=""
        className={cn(
          'h-[34rem] max-w-full bg-white md:h-full md:min-h-96',
          view === 'phone'
            ? 'w-[24.375rem] rounded-[28px] border-8 border-line-strong'
            : 'w-full max-w-3xl rounded-panel border border-line',
        )}
      />
    </div>
  )
}

function Text({
  detailed: { draft, sentences },
  marked,
  onMark,
}: {
  detailed: Detailed
  marked: number | undefined
  onMark: (sentence: number | undefined) => void
}) {
  const text = useText(draftsText)
  const stating = sentences.map(({ verdict, sentence }) =>
    verdict === 'harmless' ? undefined : sentence,
  )
  const written = plainMail(draft.rendered_text ?? draft.text, text.own_link)
  const pieces = cutAtSentences(written, stating)
  return (
    <article
      lang={draft.language}
      className="mx-auto w-full max-w-2xl px-5 py-6 font-mail text-lg leading-relaxed whitespace-pre-wrap break-words md:px-8"
    >
      <h2 className="mb-4 font-mail text-xl">{draft.rendered_subject ?? draft.subject}</h2>
      {pieces.map(({ text, sentence }, at) => {
        const judged = sentence === undefined ? undefined : sentences[sentence]
        if (!judged) return text
        const isSupported = isProven(judged)
        return (
          <button
            key={at}
            type="button"
            aria-pressed={marked === sentence}
            onClick={() => onMark(marked === sentence ? undefined : sentence)}
            className={cn(
              'inline rounded-[3px] text-left underline decoration-2 underline-offset-4',
              isSupported ? 'decoration-good/60' : 'decoration-bad decoration-wavy',
              marked === sentence ? (isSupported ? 'bg-good/20' : 'bg-bad/20') : 'hover:bg-hover',
            )}
          >
            {text}
          </button>
        )
      })}
    </article>
  )
}

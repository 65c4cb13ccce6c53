import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { useLanguage, useText } from '../../../../web/ui/language.ts'
import { Skeleton } from '../../../../web/ui/states.tsx'
import { api, ok, ProblemError } from '../../api/client.ts'
import { brandText } from './brand.text.ts'
import type { Brand } from './brand-fields.ts'

const PAUSE_MS = 400

/** A mail with the brand as it is typed, a moment after the last key. */
export function BrandPreview({ slug, brand }: { slug: string; brand: Brand }) {
  const { preview: text } = useText(brandText)
  const [language, setLanguage] = useState(useLanguage())
  const shown = useSettled(brand)
  const query = useQuery({
    queryKey: ['brand-preview', slug, language, shown],
    queryFn: async () => {
      const body = { slug, language, ...shown }
      return (await ok(api.POST('/api/cockpit/projects/brand/preview', { body }))).preview
    },
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const faults =
    query.error instanceof ProblemError
      ? (query.error.problem.errors?.map(({ message }) => message).join(' ') ??
        query.error.problem.detail)
      : null
  const [last, setLast] = useState(query.data)
  if (query.data && query.data !== last) setLast(query.data)
  const mail = query.data ?? last
  return (
    <section aria-label={text.title} className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="flex-1">{text.title}</h2>
        <fieldset
          aria-label={text.language}
          className="flex w-fit gap-0.5 rounded-control border border-line bg-surface p-0.5"
        >
          {(['en', 'tr'] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === language}
              onClick={() => setLanguage(one)}
              className={cn(
                'h-7 rounded-[4px] px-2.5 text-sm pointer-coarse:h-9',
                one === language ? 'bg-hover font-medium text-fg' : 'text-muted hover:text-fg',
              )}
            >
              {text.languages[one]}
            </button>
          ))}
        </fieldset>
      </div>
      {faults ? (
        <p role="status" className="text-sm text-warn text-pretty">
          {text.waiting} {faults}
        </p>
      ) : null}
      {mail ? (
        <>
          <p className="text-sm break-words text-muted">
            {text.from}: {mail.from ? `${mail.from.name} <${mail.from.email}>` : text.no_sender}
            <br />
            {text.subject}: {mail.subject}
          </p>
          <iframe
            key={mail.id}
            title={text.frame}
            src={`/api/cockpit/projects/brand/preview/${mail.id}`}
            sandbox=""
            className="h-[40rem] w-full rounded-panel border border-line bg-white"
          />
        </>
      ) : (
        <Skeleton className="h-[40rem] w-full rounded-panel!" />
      )}
    </section>
  )
}

/** A value as it was when it last rested. */
function useSettled(value: Brand): Brand {
  const [settled, setSettled] = useState(value)
  const key = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(key)), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [key])
  return settled
}

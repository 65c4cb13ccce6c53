import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { FileText, Search, SearchX, Upload } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { controlClass } from '../../../../web/ui/field.tsx'
import { bytes, useLanguage, useText } from '../../../../web/ui/language.ts'
import { FactsLine } from '../../../../web/ui/lists/facts-line.tsx'
import { Panes } from '../../../../web/ui/lists/panes.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { api, ok } from '../../api/client.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { DocumentDetail } from './document-detail.tsx'
import { documentsText } from './documents.text.ts'
import { uploadText } from './upload-code.text.ts'
import { UploadCode } from './upload-code.tsx'

const PAUSE_MS = 250

/** The files of the project: found by their words, read, edited, taken as PDF, and deleted. */
export function Documents() {
  const text = useText(documentsText)
  const language = useLanguage()
  const { open: upload } = useText(uploadText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const [isUploading, setUploading] = useState(false)
  const [search, setSearch] = useSearchParams()
  const open = search.get('path')
  const q = search.get('q') ?? ''
  const [typed, setTyped] = useState(q)
  useEffect(() => {
    if (typed.trim() === q) return
    const timer = setTimeout(
      () => setSearch(typed.trim() ? { q: typed.trim() } : {}, { replace: true }),
      PAUSE_MS,
    )
    return () => clearTimeout(timer)
  })
  const query = useQuery({
    queryKey: ['documents', slug, q],
    queryFn: async () =>
      (
        await ok(
          api.GET('/api/cockpit/documents/list', {
            params: { query: { project: slug, ...(q ? { q } : {}) } },
          }),
        )
      ).documents,
    placeholderData: keepPreviousData,
  })
  const here = `/p/${slug}/documents`
  const addressOf = (path: string) =>
    `${here}?${new URLSearchParams({ path, ...(q ? { q } : {}) })}`
  const list = (
    <div className="min-h-0 flex-1 overflow-y-auto p-3">
      <div className="relative mb-3">
        <Search
          size={14}
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-muted"
        />
        <input
          type="text"
          aria-label={text.find}
          placeholder={text.find}
          value={typed}
          autoComplete="off"
          onChange={({ target }) => setTyped(target.value)}
          className={cn(controlClass, 'h-8 pl-8 text-ellipsis pointer-coarse:h-10')}
        />
      </div>
      {query.isPending ? (
        <SkeletonRows />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : query.data.length === 0 ? (
        <Empty
          picture={
            q ? (
              <SearchX size={24} strokeWidth={1.5} aria-hidden />
            ) : (
              <FileText size={24} strokeWidth={1.5} aria-hidden />
            )
          }
          {...(q ? text.nothing : text.empty)}
        />
      ) : (
        <ul aria-label={text.list} className="flex flex-col gap-0.5">
          {query.data.map(({ path, bytes: size, modified_at }) => (
            <li key={path}>
              <Link
                href={addressOf(path)}
                aria-current={path === open ? 'true' : undefined}
                className={cn(
                  'flex flex-col rounded-control px-3 py-2 hover:bg-hover',
                  path === open && 'bg-selected',
                )}
              >
                <span className="truncate font-medium">{path.split('/').at(-1)}</span>
                <FactsLine>
                  {path.split('/')[0]}
                  <Time at={modified_at} />
                  <span data-numbers>{bytes(language, size)}</span>
                </FactsLine>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
  return (
    <Page
      title={text.title}
      detail={query.data?.length}
      actions={
        <Button
          disabled={isReadOnly}
          icon={<Upload size={14} aria-hidden />}
          onClick={() => setUploading(true)}
        >
          {upload}
        </Button>
      }
    >
      {isUploading ? <UploadCode onClose={() => setUploading(false)} /> : null}
      <div className="flex h-full min-h-0">
        <Panes list={list} isOpen={open !== null}>
          {open ? (
            <DocumentDetail
              key={open}
              path={open}
              back={here}
              onGone={() => setSearch(q ? { q } : {}, { replace: true })}
            />
          ) : (
            <p className="p-6 text-muted">{query.data?.length ? text.choose : null}</p>
          )}
        </Panes>
      </div>
    </Page>
  )
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download, FileDown, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, errorMessage, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../web/ui/button.tsx'
import { ConfirmByName } from '../../../../web/ui/confirm.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { BackToList } from '../../../../web/ui/lists/panes.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { useWords } from '../../../../web/ui/words.tsx'
import { api, ok } from '../../api/client.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { Markdown } from '../missions/markdown.tsx'
import { documentsText } from './documents.text.ts'

/** One file: as it reads, as text to edit, as a file and as PDF. */
export function DocumentDetail({
  path,
  back,
  onGone,
}: {
  path: string
  back: string
  onGone: () => void
}) {
  const text = useText(documentsText)
  const { cancel } = useText(common)
  const { slug: project, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const queryClient = useQueryClient()
  const [isEditing, setEditing] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const query = useQuery({
    queryKey: ['document', project, path],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/documents/get', { params: { query: { project, path } } })))
        .document,
  })
  if (query.isPending) return <SkeletonRows />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const { text: content, modified_at } = query.data
  const isMarkdown = path.endsWith('.md')
  const fileOf = (format: 'file' | 'pdf') =>
    `/api/cockpit/documents/download?${new URLSearchParams({ project, path, format })}`
  return (
    <article className="flex flex-col gap-4 p-4 md:p-6">
      <BackToList href={back} />
      <header className="flex flex-wrap items-start gap-2">
        <h2 className="min-w-40 flex-1 text-muted break-all">{path}</h2>
        {isMarkdown ? (
          <a href={fileOf('pdf')} download className={buttonClass({ size: 'sm' })}>
            <FileDown size={14} aria-hidden />
            {text.pdf}
          </a>
        ) : null}
        <a href={fileOf('file')} download className={buttonClass({ size: 'sm' })}>
          <Download size={14} aria-hidden />
          {text.download}
        </a>
        {/\.(md|txt)$/.test(path) ? (
          <Button
            size="sm"
            disabled={isReadOnly || isEditing}
            onClick={() => setEditing(true)}
            icon={<Pencil size={14} aria-hidden />}
          >
            {text.edit}
          </Button>
        ) : null}
        <Button
          size="sm"
          variant="ghost"
          disabled={isReadOnly}
          onClick={() => setDeleting(true)}
          icon={<Trash2 size={14} aria-hidden />}
        >
          {text.delete}
        </Button>
      </header>
      {isEditing ? (
        <ApiForm
          onSubmit={async () => {
            const area = document.getElementById('document-text')
            const typed = area instanceof HTMLTextAreaElement ? area.value : content
            await ok(
              api.POST('/api/cockpit/documents/save', {
                body: { project, path, text: typed, modified_at },
              }),
            )
            await Promise.all(
              ['document', 'documents'].map((key) =>
                queryClient.invalidateQueries({ queryKey: [key, project] }),
              ),
            )
            setEditing(false)
            toast(text.saved)
          }}
        >
          <FormField name="text" label={text.text}>
            <Textarea
              id="document-text"
              rows={20}
              defaultValue={content}
              className="max-h-none! font-mono text-sm!"
            />
          </FormField>
          <FormError className="mt-3" />
          <Actions>
            <Button onClick={() => setEditing(false)}>{cancel}</Button>
            <Submit>{text.save}</Submit>
          </Actions>
        </ApiForm>
      ) : isMarkdown ? (
        <Markdown text={content} />
      ) : (
        <pre className="overflow-x-auto rounded-control border border-line bg-surface p-3 font-mono text-sm whitespace-pre-wrap">
          {content}
        </pre>
      )}
      {isDeleting ? (
        <DeleteDocument path={path} onClose={() => setDeleting(false)} onGone={onGone} />
      ) : null}
    </article>
  )
}

function DeleteDocument({
  path,
  onClose,
  onGone,
}: {
  path: string
  onClose: () => void
  onGone: () => void
}) {
  const text = useText(documentsText)
  const words = useWords()
  const { slug: project } = useProject()
  const queryClient = useQueryClient()
  const name = path.split('/').at(-1) ?? path
  const remove = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/cockpit/documents/delete', { body: { project, path, confirm: name } })),
    onSuccess: async () => {
      toast(text.deleted(name))
      onGone()
      await queryClient.invalidateQueries({ queryKey: ['documents', project] })
    },
  })
  return (
    <ConfirmByName
      title={text.delete}
      text={text.delete_text}
      label={`${text.type}: ${name}`}
      name={name}
      action={text.delete}
      failure={remove.isError ? errorMessage(remove.error, words) : undefined}
      isPending={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  )
}

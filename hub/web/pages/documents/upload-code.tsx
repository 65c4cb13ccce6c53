import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Choice, Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { bytes, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, formOf, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { uploadText } from './upload-code.text.ts'

type Done = {
  saved: { path: string; is_replaced: boolean }[]
  refused: { path: string; why: string }[]
}

/** Uploads files and archives into the project's code; its limits are read before. */
export function UploadCode({ onClose }: { onClose: () => void }) {
  const text = useText(uploadText)
  const [done, setDone] = useState<Done>()
  return (
    <Dialog isOpen onClose={onClose} title={text.open}>
      {done ? (
        <Outcome done={done} onMore={() => setDone(undefined)} onClose={onClose} />
      ) : (
        <ChooseFiles onDone={setDone} onClose={onClose} />
      )}
    </Dialog>
  )
}

function ChooseFiles({ onDone, onClose }: { onDone: (done: Done) => void; onClose: () => void }) {
  const text = useText(uploadText)
  const { cancel } = useText(common)
  const language = useLanguage()
  const { slug: project } = useProject()
  const queryClient = useQueryClient()
  const [files, setFiles] = useState<File[]>([])
  const [replaces, setReplaces] = useState(false)
  const query = useQuery({
    queryKey: ['code-limits'],
    queryFn: async () => (await ok(api.GET('/api/cockpit/documents/upload_limits'))).limits,
  })
  if (query.isPending) return <SkeletonRows />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const limits = query.data
  const size = (n: number) => bytes(language, n)
  const total = files.reduce((sum, file) => sum + file.size, 0)
  const isTooLarge = total > limits.upload_bytes
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async ({ folder = '' }) => {
        const done = await ok(
          api.POST('/api/cockpit/documents/upload', {
            params: {
              query: { project, folder, replace: replaces ? 'true' : 'false' },
            },
            body: formOf({ file: files }),
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['documents', project] })
        onDone(done)
      }}
    >
      <div className="flex flex-col gap-1 text-sm text-muted" data-numbers>
        <p>{text.intro}</p>
        <p>
          {text.limits(
            size(limits.upload_bytes),
            size(limits.file_bytes),
            number(language, limits.files),
          )}
        </p>
        <p>
          {text.archives(number(language, limits.archive_entries), size(limits.unpacked_bytes))}
        </p>
      </div>
      <FormField name="file" label={text.files}>
        <Input
          type="file"
          multiple
          required
          className="h-auto py-1.5"
          onChange={({ target }) => setFiles([...(target.files ?? [])])}
        />
      </FormField>
      {isTooLarge ? (
        <Notice tone="bad" text={text.too_large(size(total), size(limits.upload_bytes))} />
      ) : null}
      <FormField name="folder" label={text.folder} isOptional>
        <Input maxLength={300} autoComplete="off" />
      </FormField>
      <Choice label={text.replace} isOn={replaces} onChange={setReplaces} />
      <FormError />
      <Actions>
        <Button onClick={onClose}>{cancel}</Button>
        <Submit disabled={files.length === 0 || isTooLarge}>{text.send}</Submit>
      </Actions>
    </ApiForm>
  )
}

function Outcome({
  done: { saved, refused },
  onMore,
  onClose,
}: {
  done: Done
  onMore: () => void
  onClose: () => void
}) {
  const text = useText(uploadText)
  const replaced = saved.filter(({ is_replaced }) => is_replaced).length
  return (
    <div className="flex flex-col gap-4">
      <p role="status" data-numbers>
        {text.saved(saved.length)}
        {replaced > 0 ? `. ${text.replaced(replaced)}` : null}
      </p>
      {refused.length > 0 ? (
        <section aria-label={text.refused(refused.length)}>
          <h3 className="mb-2 font-medium text-warn">{text.refused(refused.length)}</h3>
          <ul className="flex max-h-80 flex-col gap-2 overflow-y-auto text-sm">
            {refused.map(({ path, why }, index) => (
              <li key={index}>
                <span className="font-mono break-all">{path}</span>
                <p className="text-muted">{why}</p>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      <Actions>
        <Button onClick={onMore}>{text.more}</Button>
        <Button variant="primary" onClick={onClose}>
          {text.done}
        </Button>
      </Actions>
    </div>
  )
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Archive } from 'lucide-react'
import { useState } from 'react'
import {
  errorMessage,
  FailedQuery,
  hasFailed,
  useToastError,
} from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { ConfirmByName } from '../../../../../web/ui/confirm.tsx'
import { bytes, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { FactsLine } from '../../../../../web/ui/lists/facts-line.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { Time } from '../../../../../web/ui/time.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, ok } from '../../../api/client.ts'
import { projectsQuery, useIsReadOnly } from '../../../api/queries.ts'
import { peopleText } from '../people/people.text.ts'
import { Card, Section } from '../section.tsx'

const KEY = ['archives']

/** The archives of deleted projects: bring one back, or delete it for good. */
export function Archives() {
  const { archives: text } = useText(peopleText)
  const language = useLanguage()
  const words = useWords()
  const isReadOnly = useIsReadOnly()
  const queryClient = useQueryClient()
  const say = useToastError()
  const [doomed, setDoomed] = useState<string>()
  const query = useQuery({
    queryKey: KEY,
    queryFn: async () => (await ok(api.GET('/api/cockpit/projects/archives'))).archives,
  })
  const restore = useMutation({
    mutationFn: (archive: string) =>
      ok(api.POST('/api/cockpit/projects/restore', { body: { archive } })),
    onSuccess: async ({ project }) => {
      await queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey })
      toast(text.restored(project.name))
    },
    onError: say,
  })
  const remove = useMutation({
    mutationFn: (archive: string) =>
      ok(
        api.POST('/api/cockpit/projects/archives/delete', { body: { archive, confirm: archive } }),
      ),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: KEY })
      setDoomed(undefined)
      toast(text.deleted)
    },
  })
  return (
    <Section title={text.title} text={text.text}>
      {query.isPending ? (
        <SkeletonRows rows={4} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <Card>
          {query.data.length === 0 ? <p className="text-muted">{text.none}</p> : null}
          <ul className="flex flex-col">
            {query.data.map((one) => (
              <li
                key={one.archive}
                className="flex flex-wrap items-center gap-3 border-line py-2.5 not-last:border-b"
              >
                <Archive size={16} aria-hidden className="shrink-0 text-muted max-md:hidden" />
                <div className="min-w-40 flex-1">
                  <p className="truncate font-medium">{one.slug}</p>
                  <FactsLine>
                    <Time at={one.archived_at} />
                    <span data-numbers>{bytes(language, one.bytes)}</span>
                  </FactsLine>
                </div>
                <Button
                  size="sm"
                  disabled={isReadOnly}
                  isPending={restore.isPending && restore.variables === one.archive}
                  onClick={() => restore.mutate(one.archive)}
                >
                  {text.restore}
                </Button>
                <Button
                  size="sm"
                  variant="ghost"
                  disabled={isReadOnly}
                  onClick={() => setDoomed(one.archive)}
                >
                  {text.delete}
                </Button>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {doomed ? (
        <ConfirmByName
          title={text.delete}
          text={text.delete_text}
          label={`${text.type}: ${doomed}`}
          name={doomed}
          action={text.delete}
          failure={remove.isError ? errorMessage(remove.error, words) : undefined}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate(doomed)}
          onClose={() => setDoomed(undefined)}
        />
      ) : null}
    </Section>
  )
}

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  ApiForm,
  FailedQuery,
  hasFailed,
  useToastError,
} from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { Input } from '../../../../../web/ui/field.tsx'
import { saveFile } from '../../../../../web/ui/file.ts'
import { FormError, FormField, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { More } from '../../../../../web/ui/lists/more.tsx'
import { Table, Td, Th } from '../../../../../web/ui/lists/table.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { Time } from '../../../../../web/ui/time.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { useIsReadOnly } from '../../../api/queries.ts'
import { cursorOf, paged } from '../../../paging.ts'
import { Card, Facts, Section } from '../section.tsx'
import { ErasePerson } from './erase-person.tsx'
import { peopleText } from './people.text.ts'
import { Stays } from './stays.tsx'

type Found = Schemas['PersonFound']
const SHOWN = 50

/** The rights of people: find one everywhere, hand out a copy, erase; and who was erased. */
export function People() {
  const text = useText(peopleText)
  const isReadOnly = useIsReadOnly()
  const queryClient = useQueryClient()
  const [found, setFound] = useState<Found>()
  const [done, setDone] = useState<Schemas['PersonErased']>()
  const [isErasing, setErasing] = useState(false)
  const isNowhere =
    found && found.rows.length + found.files.length + found.leads + found.mails === 0
  return (
    <Section title={text.title} text={text.text}>
      <Card>
        <ApiForm
          onSubmit={async ({ email = '' }) => {
            setDone(undefined)
            setFound(await ok(api.POST('/api/cockpit/people/find', { body: { email } })))
          }}
        >
          <div className="flex items-end gap-2">
            <FormField name="email" label={text.email} className="flex-1">
              <Input inputMode="email" maxLength={320} />
            </FormField>
            <Submit>{text.find}</Submit>
          </div>
          <FormError className="mt-3" />
        </ApiForm>
      </Card>
      {done ? (
        <Card>
          <p role="status" className="font-medium">
            {text.erased(
              done.erased.leads,
              done.erased.recipients,
              done.erased.texts + done.erased.files,
            )}
          </p>
          <Stays stays={done.stays} />
          <Places
            places={done.remaining}
            text={text.remaining(done.remaining.rows.length + done.remaining.files.length)}
          />
        </Card>
      ) : null}
      {found ? (
        <Card title={text.found(found.email)}>
          {isNowhere ? <p className="mb-3 text-muted">{text.nothing(found.email)}</p> : null}
          {found.names.length > 0 ? (
            <p className="mb-3 text-sm text-muted">{text.names(found.names.join(', '))}</p>
          ) : null}
          <Facts
            rows={[
              [text.leads, found.leads],
              [text.mails, found.mails],
              [text.places, found.rows.length],
              [text.files, found.files.length],
              ...(found.in_listmonk === null
                ? []
                : [[text.listmonk, found.in_listmonk ? text.yes : text.no] as [string, string]]),
            ]}
          />
          <Places places={found} />
          {found.unsearched.length > 0 ? (
            <Notice
              tone="warn"
              className="mt-3"
              text={`${text.unsearched(found.unsearched.length)}: ${found.unsearched.slice(0, 5).join(', ')}`}
            />
          ) : null}
          <div className="mt-4 flex flex-wrap gap-2">
            <Export email={found.email} />
            <Button variant="danger" disabled={isReadOnly} onClick={() => setErasing(true)}>
              {text.erase}
            </Button>
          </div>
        </Card>
      ) : null}
      {found && isErasing ? (
        <ErasePerson
          found={found}
          onClose={() => setErasing(false)}
          onErased={async (erased) => {
            setErasing(false)
            setFound(undefined)
            setDone(erased)
            await queryClient.invalidateQueries()
          }}
        />
      ) : null}
      <Ledger />
    </Section>
  )
}

/** The places that name a person, with what stands there. */
function Places({
  places: { rows, files },
  text: said,
}: {
  places: Pick<Found, 'rows' | 'files'>
  text?: string
}) {
  const text = useText(peopleText)
  const all = [
    ...rows.map(({ project, table, column, excerpts }) => ({
      where: [project, `${table}.${column}`].filter(Boolean).join(' · '),
      excerpts,
    })),
    ...files.map(({ file, excerpts }) => ({ where: file, excerpts })),
  ]
  if (all.length === 0) return null
  return (
    <div className="mt-4">
      {said ? <p className="mb-2">{said}</p> : null}
      <div className="-mx-4 max-h-80 overflow-auto md:-mx-5">
        <Table>
          <thead>
            <tr>
              <Th className="bg-surface pl-5">{text.where}</Th>
              <Th className="bg-surface">{text.what}</Th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, SHOWN).map(({ where, excerpts }, at) => (
              <tr key={at}>
                <Td className="max-w-56 pl-5 text-sm break-words text-muted">{where}</Td>
                <Td className="py-1.5 text-sm break-words">{excerpts.join(' … ')}</Td>
              </tr>
            ))}
          </tbody>
        </Table>
      </div>
      {all.length > SHOWN ? (
        <p className="mt-2 text-sm text-muted">{text.more(all.length - SHOWN)}</p>
      ) : null}
    </div>
  )
}

function Export({ email }: { email: string }) {
  const text = useText(peopleText)
  const say = useToastError()
  const [pending, setPending] = useState<'json' | 'page'>()
  const save = async (kind: 'json' | 'page') => {
    setPending(kind)
    try {
      const { page, ...rest } = await ok(
        api.POST('/api/cockpit/people/export', { body: { email } }),
      )
      if (kind === 'page') saveFile('person.html', page, 'text/html')
      else saveFile('person.json', JSON.stringify(rest, null, 2), 'application/json')
    } catch (error) {
      say(error)
    }
    setPending(undefined)
  }
  return (
    <>
      <Button isPending={pending === 'json'} onClick={() => save('json')}>
        {text.json}
      </Button>
      <Button isPending={pending === 'page'} onClick={() => save('page')}>
        {text.page}
      </Button>
    </>
  )
}

/** Who was erased, as hashes. */
function Ledger() {
  const text = useText(peopleText)
  const query = useInfiniteQuery({
    queryKey: ['people', 'erasures'],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/people/erasures', {
          params: { query: { limit: 50, ...cursorOf(pageParam) } },
        }),
      ),
    ...paged,
  })
  if (query.isPending) return <SkeletonRows rows={3} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const rows = query.data.pages.flatMap((page) => page.erasures)
  const by = (who: string | null) => {
    if (who === 'admin' || who === 'api') return text.by[who]
    return who ?? text.by.unknown
  }
  return (
    <Card title={text.ledger} text={text.ledger_text}>
      {rows.length === 0 ? (
        <p className="text-muted">{text.none}</p>
      ) : (
        <div className="-mx-4 overflow-x-auto md:-mx-5">
          <Table>
            <thead>
              <tr>
                <Th className="bg-surface pl-5">{text.hash}</Th>
                <Th className="bg-surface">{text.when}</Th>
                <Th className="bg-surface">{text.who}</Th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.email_hash}>
                  <Td className="pl-5 font-mono text-sm text-muted">
                    {row.email_hash.slice(0, 12)}
                  </Td>
                  <Td>
                    <Time at={row.erased_at} />
                  </Td>
                  <Td>{by(row.erased_by)}</Td>
                </tr>
              ))}
            </tbody>
          </Table>
        </div>
      )}
      <More query={query} className="pb-0" />
    </Card>
  )
}

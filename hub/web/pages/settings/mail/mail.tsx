import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  ApiForm,
  FailedQuery,
  hasFailed,
  useToastError,
} from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { Input, Switch } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { number, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { numberOf } from '../../../../leads/cells.ts'
import { api, ok } from '../../../api/client.ts'
import { type MailView, mailQuery } from '../../../api/queries.ts'
import { common } from '../../../common.text.ts'
import { Card, Facts, Section } from '../section.tsx'
import { mailText } from './mail.text.ts'
import { MailServers } from './mail-servers.tsx'
import { MailTest } from './mail-test.tsx'
import { useChangeMail } from './use-change-mail.ts'

/** The servers, the daily limit, and the state of sending. */
export function Mail() {
  const text = useText(mailText)
  const query = useQuery(mailQuery)
  return (
    <Section title={text.title} text={text.text}>
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <>
          <State view={query.data} />
          <MailServers view={query.data} />
          <PublicUrl view={query.data} />
          <MailTest view={query.data} />
          <Volume view={query.data} />
        </>
      )}
    </Section>
  )
}

function State({ view: { mail, state } }: { view: MailView }) {
  const text = useText(mailText)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const say = useToastError()
  const { paused } = state
  const toggle = useMutation({
    mutationFn: async () => {
      if (paused) await ok(api.POST('/api/cockpit/settings/mail/confirm'))
      else await ok(api.POST('/api/cockpit/settings/mail/pause'))
    },
    onSuccess: () => toast(paused ? text.paused.confirmed : text.pause_done),
    onError: say,
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: mailQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: ['today'] }),
      ]),
  })
  const say_number = (value: number) => number(language, value)
  return (
    <>
      {paused ? (
        <Notice
          tone="warn"
          text={
            <>
              <p className="font-medium">{text.paused.title}</p>
              <p className="text-muted">
                {text.paused[paused.reason]} {paused.detail}
              </p>
            </>
          }
          action={
            <Button
              size="sm"
              variant="primary"
              isPending={toggle.isPending}
              onClick={() => toggle.mutate()}
            >
              {text.paused.confirm}
            </Button>
          }
        />
      ) : null}
      {(['listmonk', 'imap'] as const).map((source) => {
        const { error } = state.polls[source]
        if (!mail[source] || !error) return null
        return (
          <Notice
            key={source}
            tone="warn"
            text={
              <>
                <p className="font-medium">{text.not_read(text[source])}</p>
                <p className="break-words text-muted">{error}</p>
              </>
            }
          />
        )
      })}
      <Card>
        <Facts
          rows={[
            [text.today, text.used(say_number(state.used_today), say_number(state.cap_today))],
            ...(state.senders.length > 0
              ? [[text.ramps, <Ramps key="ramps" senders={state.senders} />] as [string, ReactNode]]
              : []),
            [
              text.month,
              text.month_value(
                say_number(state.sent_30_days),
                say_number(state.hard_bounces),
                say_number(state.complaints),
              ),
            ],
          ]}
        />
        {paused ? null : (
          <Button
            size="sm"
            className="mt-3"
            isPending={toggle.isPending}
            onClick={() => toggle.mutate()}
          >
            {text.pause}
          </Button>
        )}
      </Card>
    </>
  )
}

/** What each sender may send today by its ramp. */
function Ramps({ senders }: { senders: MailView['state']['senders'] }) {
  const text = useText(mailText)
  const language = useLanguage()
  const say = (value: number) => number(language, value)
  return (
    <ul className="flex flex-col gap-1">
      {senders.map(({ email, day, used_today, cap_today, left_today }) => (
        <li key={email}>
          <span className="break-all">{email}</span>
          <span className="block text-sm text-muted">
            {text.ramp_today(say(day), say(used_today), say(cap_today))}
            {left_today < cap_today - used_today ? ` ${text.ramp_capped(say(left_today))}` : null}
          </span>
        </li>
      ))}
    </ul>
  )
}

function PublicUrl({ view: { state } }: { view: MailView }) {
  const text = useText(mailText)
  const words = useText(common)
  const queryClient = useQueryClient()
  return (
    <Card title={text.public_url} text={text.public_url_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ public_url }) => {
          const body = { public_url: public_url || null }
          await ok(api.PUT('/api/cockpit/settings/system', { body }))
          await queryClient.invalidateQueries({ queryKey: mailQuery.queryKey })
          toast(words.saved)
        }}
      >
        <FormField name="public_url" label={text.public_url} hint={text.public_url_hint} isOptional>
          <Input
            inputMode="url"
            spellCheck={false}
            placeholder="https://hub.demir.example"
            defaultValue={state.public_url ?? ''}
          />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit>{words.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

/** A number as people write it, `1.000` too; the hub says what is wrong with anything else. */
const written = (text = '') => (numberOf(text) ?? text) as number // safe: the hub checks it

function Volume({ view: { mail } }: { view: MailView }) {
  const text = useText(mailText)
  const words = useText(common)
  const change = useChangeMail()
  const [isGrowing, setGrowing] = useState(mail.ramp !== null)
  const [tracks, setTracks] = useState(mail.track_opens)
  return (
    <Card title={text.volume} text={text.volume_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ daily_cap, start, step, away_days, test_email }) => {
          await change({
            daily_cap: written(daily_cap),
            ramp: isGrowing ? { start: written(start), step: written(step) } : null,
            track_opens: tracks,
            away_days: Number(away_days),
            test_email: test_email || null,
          })
          toast(words.saved)
        }}
      >
        <FormField name="daily_cap" label={text.daily_cap} className="max-w-48">
          <Input inputMode="numeric" defaultValue={mail.daily_cap} />
        </FormField>
        <div className="flex items-center gap-3">
          <Switch label={text.ramp} isOn={isGrowing} onChange={setGrowing} />
          <span>{text.ramp}</span>
        </div>
        {isGrowing ? (
          <div className="grid max-w-sm grid-cols-2 gap-4">
            <FormField name="start" label={text.start}>
              <Input inputMode="numeric" defaultValue={mail.ramp?.start ?? 20} />
            </FormField>
            <FormField name="step" label={text.step}>
              <Input inputMode="numeric" defaultValue={mail.ramp?.step ?? 20} />
            </FormField>
          </div>
        ) : null}
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="away_days" label={text.away_days} hint={text.away_days_hint}>
            <Input inputMode="numeric" defaultValue={mail.away_days} />
          </FormField>
          <FormField
            name="test_email"
            label={text.test_email}
            hint={text.test_email_hint}
            isOptional
          >
            <Input inputMode="email" defaultValue={mail.test_email ?? ''} maxLength={254} />
          </FormField>
        </div>
        <div className="flex items-start gap-3">
          <Switch label={text.track} isOn={tracks} onChange={setTracks} />
          <p>
            {text.track} <span className="block text-sm text-muted">{text.track_hint}</span>
          </p>
        </div>
        <FormError />
        <Actions className="mt-0">
          <Submit>{words.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

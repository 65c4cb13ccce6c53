import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { isDark } from '../../../../shared/colour.ts'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { buttonClass } from '../../../../web/ui/button.tsx'
import { Field, Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { lookQuery } from '../../api/queries.ts'
import { COLOUR, ColourInput } from '../../colour-input.tsx'
import { common } from '../../common.text.ts'
import { dataUrlOf, LogoInput } from '../../logo-input.tsx'
import { Card, Section } from './section.tsx'
import { settingsText } from './settings.text.ts'

type Look = Schemas['BrandingSettings']['branding']
const MAX_BYTES = 200 * 1024

/** The customer's own name, logo and colours, with a preview before they are saved. */
export function Branding() {
  const { branding: text } = useText(settingsText)
  const query = useQuery({
    queryKey: ['settings', 'branding'],
    queryFn: () => ok(api.GET('/api/cockpit/settings/branding')),
  })
  return (
    <Section title={text.title} text={text.text}>
      {query.isPending ? (
        <SkeletonRows rows={6} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <Whole settings={query.data} />
      )}
    </Section>
  )
}

function Whole({ settings }: { settings: Schemas['BrandingSettings'] }) {
  const { branding: text } = useText(settingsText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const [look, setLook] = useState<Look>(settings.branding)
  const [fault, setFault] = useState<string>()
  const change = (part: Partial<Look>) => setLook({ ...look, ...part })
  const take = (chosen: File) => {
    setFault(chosen.size > MAX_BYTES ? text.too_large : undefined)
    if (chosen.size <= MAX_BYTES) void dataUrlOf(chosen).then((logo) => change({ logo }))
  }
  return (
    <>
      {settings.applies ? null : (
        <Notice
          tone="warn"
          text={text.needs}
          action={
            <Link href="/settings/license" className={buttonClass({ size: 'sm' })}>
              {text.license}
            </Link>
          }
        />
      )}
      <Card title={text.preview}>
        <Preview look={look} />
      </Card>
      <Card>
        <ApiForm
          className="flex flex-col gap-4"
          onSubmit={async () => {
            await ok(api.PUT('/api/cockpit/settings/branding', { body: look }))
            toast(text.saved)
            await queryClient.invalidateQueries({ queryKey: lookQuery.queryKey })
            await queryClient.invalidateQueries({ queryKey: ['settings', 'branding'] })
          }}
        >
          <FormField name="name" label={text.name}>
            <Input
              value={look.name}
              maxLength={80}
              onChange={(event) => change({ name: event.target.value })}
            />
          </FormField>
          <Field label={text.logo} hint={text.logo_hint} error={fault}>
            <LogoInput
              words={text}
              hasLogo={look.logo !== null}
              onChoose={take}
              onRemove={() => change({ logo: null })}
            />
          </Field>
          <div className="grid gap-4 md:grid-cols-2">
            {(['primary', 'accent'] as const).map((name) => (
              <FormField key={name} name={name} label={text[name]}>
                <ColourInput
                  label={text[name]}
                  value={look.colors[name]}
                  onChange={(colour) => change({ colors: { ...look.colors, [name]: colour } })}
                />
              </FormField>
            ))}
          </div>
          {settings.warnings.length > 0 ? (
            <Notice tone="warn" text={settings.warnings.join(' ')} />
          ) : null}
          <FormError />
          <Actions className="mt-0">
            <Submit disabled={!settings.applies}>{words.save}</Submit>
          </Actions>
        </ApiForm>
      </Card>
    </>
  )
}

/** A button, a link and the head of a mail in the new look. */
function Preview({ look }: { look: Look }) {
  const { branding: text } = useText(settingsText)
  const { primary, accent } = look.colors
  const known = (colour: string) => (COLOUR.test(colour) ? colour : '#888888')
  return (
    <div className="grid gap-3 md:grid-cols-2">
      {(['#ffffff', '#131110'] as const).map((paper) => {
        const ink = paper === '#ffffff' ? '#221e1a' : '#f0ebe4'
        return (
          <div
            key={paper}
            className="overflow-hidden rounded-panel border border-line"
            style={{ background: paper, color: ink }}
          >
            <div className="h-1" style={{ background: known(accent) }} />
            <div className="flex flex-col gap-4 p-4">
              <p className="flex items-center gap-2 font-semibold">
                {look.logo ? (
                  <img src={look.logo} alt="" className="size-6 object-contain" />
                ) : null}
                <span className="truncate">{look.name}</span>
              </p>
              <p className="flex items-center gap-4">
                <span
                  className="rounded-control px-3 py-1.5 font-semibold"
                  style={{
                    background: known(primary),
                    color: isDark(known(primary)) ? '#ffffff' : '#0b0f14',
                  }}
                >
                  {text.preview_button}
                </span>
                <span className="underline underline-offset-2">{text.preview_link}</span>
              </p>
            </div>
          </div>
        )
      })}
    </div>
  )
}

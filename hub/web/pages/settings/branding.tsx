import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { isDark } from '../../../../shared/colour.ts'
import { ApiForm, FailedQuery } from '../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../web/ui/button.tsx'
import { Field, Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { lookQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { Card, Section } from './section.tsx'
import { settingsText } from './settings.text.ts'

type Look = Schemas['BrandingSettings']['branding']
const MAX_BYTES = 200 * 1024
const COLOUR = /^#[0-9a-f]{6}$/i

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
      ) : query.isError ? (
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
  const file = useRef<HTMLInputElement>(null)
  const [fault, setFault] = useState<string>()
  const change = (part: Partial<Look>) => setLook({ ...look, ...part })
  const take = (chosen: File | undefined) => {
    setFault(undefined)
    if (!chosen) return
    if (chosen.size > MAX_BYTES) return setFault(text.too_large)
    const reader = new FileReader()
    reader.onload = () => change({ logo: String(reader.result) })
    reader.readAsDataURL(chosen)
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
            <div className="flex flex-wrap gap-2">
              <input
                ref={file}
                type="file"
                accept="image/png,image/jpeg"
                className="sr-only"
                tabIndex={-1}
                aria-label={text.logo}
                onChange={(event) => take(event.target.files?.[0])}
              />
              <Button
                icon={<ImageUp size={14} aria-hidden />}
                onClick={() => file.current?.click()}
              >
                {text.choose}
              </Button>
              {look.logo ? (
                <Button
                  variant="ghost"
                  icon={<Trash2 size={14} aria-hidden />}
                  onClick={() => change({ logo: null })}
                >
                  {text.remove}
                </Button>
              ) : null}
            </div>
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

function ColourInput({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (colour: string) => void
}) {
  return (
    <div className="flex gap-2">
      <span className="relative size-8 shrink-0 overflow-hidden rounded-control border border-line pointer-coarse:size-10">
        <input
          type="color"
          aria-label={label}
          value={COLOUR.test(value) ? value : '#000000'}
          onChange={(event) => onChange(event.target.value)}
          className="absolute -inset-2 size-14 cursor-pointer border-0 p-0"
        />
      </span>
      <Input
        value={value}
        maxLength={7}
        spellCheck={false}
        className="font-mono"
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
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

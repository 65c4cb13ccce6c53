import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Field, Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { brandQuery, useIsAdmin, useIsReadOnly } from '../../api/queries.ts'
import { ColourInput } from '../../colour-input.tsx'
import { common } from '../../common.text.ts'
import { LogoInput } from '../../logo-input.tsx'
import { useProject } from '../../project.ts'
import { Card } from '../settings/section.tsx'
import { brandText } from './brand.text.ts'
import { type Brand, brandFrom } from './brand-fields.ts'
import { BrandList } from './brand-list.tsx'
import { BrandPreview } from './brand-preview.tsx'
import { fitLogo } from './fit-logo.ts'
import { SenderDns } from './sender-dns.tsx'

/** What the mails and documents of a project carry, with a mail that shows it. */
export function BrandOfProject() {
  const { slug } = useProject()
  const query = useQuery(brandQuery(slug))
  if (query.isPending) return <SkeletonRows />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  return <Whole view={query.data} />
}

function Whole({ view }: { view: Schemas['ProjectBrand'] }) {
  const text = useText(brandText)
  const { only_admin } = useText(common)
  const project = useProject()
  const isAdmin = useIsAdmin()
  const isReadOnly = useIsReadOnly() || project.read_only || !isAdmin
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState<Record<string, string>>({})
  const [look, setLook] = useState({ logo: view.brand.logo, color: view.brand.color })
  const now = { ...textsOf(view.brand), ...typed }
  const save = async (values: Record<string, string>) => {
    const body = { slug: project.slug, ...brandFrom(values, look) }
    const { drafts, ...saved } = await ok(api.PUT('/api/cockpit/projects/brand', { body }))
    queryClient.setQueryData(brandQuery(project.slug).queryKey, saved)
    for (const key of ['draft', 'drafts', 'today']) {
      void queryClient.invalidateQueries({ queryKey: [key] })
    }
    toast(drafts > 0 ? text.saved_drafts(drafts) : text.saved)
  }
  return (
    <div className="grid items-start gap-6 @4xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-6">
        {isAdmin === false ? <Notice text={`${only_admin.title}. ${only_admin.text}`} /> : null}
        <ApiForm className="flex flex-col gap-6" onSubmit={save}>
          <fieldset
            disabled={isReadOnly}
            className="contents"
            onInput={({ target }) => {
              if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) {
                if (target.name) setTyped({ ...typed, [target.name]: target.value })
              }
            }}
          >
            <SenderCard brand={view.brand} />
            <LookCard brand={view.brand} look={look} onChange={setLook} />
            <FooterCard brand={view.brand} />
          </fieldset>
          <div>
            <FormError className="mb-4" />
            <p className="text-sm text-muted text-pretty">{text.approve}</p>
            <Actions className="mt-3">
              <Submit disabled={isReadOnly}>{text.save}</Submit>
            </Actions>
          </div>
        </ApiForm>
        <SenderDns view={view} />
        <BrandList view={view} />
      </div>
      <div className="min-w-0 @4xl:sticky @4xl:top-0">
        <BrandPreview slug={project.slug} brand={brandFrom(now, look)} />
      </div>
    </div>
  )
}

function textsOf(brand: Brand): Record<string, string> {
  return Object.fromEntries(
    Object.entries(brand).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )
}

function SenderCard({ brand }: { brand: Brand }) {
  const { sender: text } = useText(brandText)
  return (
    <Card title={text.title} text={text.text}>
      <div className="grid gap-4 md:grid-cols-2">
        <FormField name="sender_name" label={text.sender_name}>
          <Input defaultValue={brand.sender_name ?? ''} maxLength={80} autoComplete="name" />
        </FormField>
        <FormField name="sender_email" label={text.sender_email}>
          <Input defaultValue={brand.sender_email ?? ''} maxLength={254} inputMode="email" />
        </FormField>
        <FormField
          name="reply_to"
          label={text.reply_to}
          hint={text.reply_to_hint}
          className="md:col-span-2"
          isOptional
        >
          <Input defaultValue={brand.reply_to ?? ''} maxLength={254} inputMode="email" />
        </FormField>
        <FormField
          name="signature"
          label={text.signature}
          hint={text.signature_hint}
          className="md:col-span-2"
          isOptional
        >
          <Textarea defaultValue={brand.signature ?? ''} rows={4} maxLength={400} />
        </FormField>
      </div>
    </Card>
  )
}

type Look = Pick<Brand, 'logo' | 'color'>

function LookCard(props: { brand: Brand; look: Look; onChange: (look: Look) => void }) {
  const { look: text } = useText(brandText)
  const { brand, look, onChange } = props
  const [fault, setFault] = useState<string>()
  const take = async (file: File) => {
    setFault(undefined)
    try {
      onChange({ ...look, logo: await fitLogo(file) })
    } catch {
      setFault(text.unreadable)
    }
  }
  return (
    <Card title={text.title} text={text.text}>
      <div className="grid gap-4 md:grid-cols-2">
        <FormField name="name" label={text.name} hint={text.name_hint} isOptional>
          <Input defaultValue={brand.name ?? ''} maxLength={80} />
        </FormField>
        <FormField name="color" label={text.color}>
          <ColourInput
            label={text.color}
            value={look.color}
            onChange={(color) => onChange({ ...look, color })}
          />
        </FormField>
        <Field label={text.logo} hint={text.logo_hint} error={fault} className="md:col-span-2">
          <LogoInput
            words={text}
            hasLogo={look.logo !== null}
            onChoose={(file) => void take(file)}
            onRemove={() => onChange({ ...look, logo: null })}
          />
        </Field>
      </div>
    </Card>
  )
}

function FooterCard({ brand }: { brand: Brand }) {
  const { footer: text } = useText(brandText)
  return (
    <Card title={text.title} text={text.text}>
      <div className="grid gap-4 md:grid-cols-2">
        <FormField
          name="postal_address"
          label={text.postal_address}
          hint={text.postal_hint}
          className="md:col-span-2"
        >
          <Input defaultValue={brand.postal_address ?? ''} maxLength={300} />
        </FormField>
        {(['reason_en', 'reason_tr'] as const).map((name) => (
          <FormField
            key={name}
            name={name}
            label={text[name]}
            hint={text.own}
            className="md:col-span-2"
            isOptional
          >
            <Input defaultValue={brand[name] ?? ''} maxLength={300} />
          </FormField>
        ))}
        {(['unsubscribe_en', 'unsubscribe_tr'] as const).map((name) => (
          <FormField key={name} name={name} label={text[name]} hint={text.own} isOptional>
            <Input defaultValue={brand[name] ?? ''} maxLength={60} />
          </FormField>
        ))}
      </div>
    </Card>
  )
}

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { api, ok, ProblemError } from '../../api/client.ts'
import { type Zone, zoneQuery } from '../../api/queries.ts'
import { useMayEdit } from '../../api/rights.ts'
import { PlaceSearch } from '../../map/place-search.tsx'
import type { Place } from '../../map/places.ts'
import { useWebGL } from '../../map/use-webgl.ts'
import { loadPart } from '../../shared/connection.ts'
import { ApiForm, useToastError } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/class-names.ts'
import { Input } from '../../ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { BackToList } from '../../ui/lists/panes.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { Corners } from './corners-field.tsx'
import { bodyOf, type Draft } from './draft.ts'
import { MoreRules } from './more-rules.tsx'
import { NewerNotice } from './newer-notice.tsx'
import { Preview } from './preview.tsx'
import { hasNews, useDraft } from './use-draft.ts'
import { People } from './zone-people.tsx'
import { Rules } from './zone-rules.tsx'
import { ZoneActions, ZoneHistory } from './zone-state.tsx'
import { zonesText } from './zones.text.ts'

const ShapeMap = lazy(() =>
  loadPart(() => import('../../map/shape-map.tsx').then(({ ShapeMap }) => ({ default: ShapeMap }))),
)

/** The form of a zone beside its map, with a preview that follows every change. */
export function ZoneEditor({ zone }: { zone: Zone | undefined }) {
  const text = useText(zonesText)
  const canDraw = useWebGL()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const { base, draft, change, newer, takeTheirs, keepMine, saved } = useDraft(zone)
  const [at, setAt] = useState<Place>()
  const body = bodyOf(draft)
  const mayEditIt = useMayEdit()
  const mayEdit = !zone || mayEditIt(zone)

  async function save(): Promise<void> {
    if (!body) return
    if (base) {
      const stored = await replace(base, body)
      if (!stored) return
      saved(stored, draft)
      toast(text.saved)
    } else {
      const made = await ok(api.POST('/api/v1/zones', { body }))
      toast(text.created(draft.label))
      await queryClient.invalidateQueries({ queryKey: ['zones'] })
      if (typeof made !== 'string') navigate(`/zones/${made.zone.id}`)
    }
    void queryClient.invalidateQueries({ queryKey: ['zones'] })
  }

  /**
   * Saves over a zone as it was read. Undefined when it was saved elsewhere meanwhile, in what stands in the form,
   * which then says so.
   */
  async function replace(read: Zone, to: NonNullable<typeof body>): Promise<Zone | undefined> {
    try {
      const path = { id: read.id }
      const header = { 'if-match': String(read.version) }
      const made = await ok(api.PATCH('/api/v1/zones/{id}', { params: { path, header }, body: to }))
      return made.zone as Zone // safe: openapi-fetch only widens the pairs of its rules
    } catch (error) {
      if (!(error instanceof ProblemError && error.problem.code === 'version_mismatch')) throw error
      const latest = await queryClient.fetchQuery({ ...zoneQuery(read.id), staleTime: 0 })
      return hasNews(read, latest) ? undefined : replace(latest, to)
    }
  }

  return (
    <div className="flex h-full min-h-0 flex-col max-lg:overflow-y-auto lg:grid lg:grid-cols-[24rem_minmax(0,1fr)] lg:grid-rows-[auto_minmax(0,1fr)]">
      <header className="flex items-center gap-2 p-4 max-lg:border-b max-lg:border-line lg:pb-0">
        <BackToList href="/zones" />
        <h2 className="text-lg">{zone?.label ?? text.new_title}</h2>
      </header>
      <ApiForm
        className="relative flex shrink-0 flex-col gap-4 p-4 max-lg:order-2 lg:min-h-0 lg:overflow-y-auto"
        onSubmit={save}
      >
        {zone && mayEdit ? <ZoneActions zone={zone} /> : null}
        {zone && !mayEdit ? <Notice text={text.read_only} /> : null}
        <FormField name="label" label={text.label}>
          <Input
            value={draft.label}
            maxLength={120}
            onChange={({ target }) => change({ label: target.value })}
          />
        </FormField>
        <PlaceSearch
          onPlace={(place) => {
            setAt(place)
            if (draft.shape_type === 'circle') change({ lat: place.lat, lon: place.lon })
          }}
        />
        <Shape draft={draft} change={change} />
        <Rules draft={draft} change={change} />
        <MoreRules draft={draft} change={change} />
        <People draft={draft} change={change} />
        {zone ? <ZoneHistory zone={zone} /> : null}
        {zone && newer ? (
          <NewerNotice zone={zone} newer={newer} onTake={takeTheirs} onKeep={keepMine} />
        ) : null}
        <FormError />
        <div className="flex flex-wrap items-center gap-2">
          <Submit disabled={!body || !mayEdit || newer !== undefined}>
            {zone ? text.save : text.create}
          </Submit>
          {zone && mayEdit ? <Delete zone={zone} /> : null}
        </div>
      </ApiForm>
      {/* On a narrow page the map comes first and the preview last: what is drawn is what the form is about. */}
      <div className="border-line max-lg:contents lg:col-start-2 lg:row-span-2 lg:row-start-1 lg:flex lg:min-h-0 lg:min-w-0 lg:flex-col lg:border-l">
        <div
          className={cn(
            'relative shrink-0 max-lg:order-1 lg:flex-1',
            canDraw ? 'min-h-72' : 'max-lg:order-2',
          )}
        >
          {canDraw ? (
            <Suspense>
              <ShapeMap label={text.map} draft={draft} isNew={!zone} at={at} onChange={change} />
            </Suspense>
          ) : (
            <p className="p-4 text-muted">{text.no_webgl}</p>
          )}
        </div>
        <Preview body={body} onThreshold={(min_severity) => change({ min_severity })} />
      </div>
    </div>
  )
}

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** A number that is only taken over when it is one. */
function numberFrom(text: string, given: number): number {
  const value = Number(text.replace(',', '.'))
  return text.trim() !== '' && Number.isFinite(value) ? value : given
}

function Shape({ draft, change }: Part) {
  const text = useText(zonesText)
  const isCircle = draft.shape_type === 'circle'
  return (
    <>
      <FormField
        name="shape_type"
        label={text.shape}
        hint={isCircle ? text.place_hint : draft.polygon ? text.edit_hint : text.draw_hint}
      >
        <Select
          value={draft.shape_type}
          onChange={({ target }) =>
            change({ shape_type: target.value === 'polygon' ? 'polygon' : 'circle' })
          }
          options={[
            { value: 'circle', label: text.shapes.circle },
            { value: 'polygon', label: text.shapes.polygon },
          ]}
        />
      </FormField>
      {isCircle ? (
        <>
          <div className="grid grid-cols-2 gap-2">
            {(['lat', 'lon'] as const).map((name) => (
              <FormField key={name} name={name} label={text[name]}>
                <Input
                  key={draft[name]}
                  inputMode="decimal"
                  defaultValue={draft[name]}
                  onBlur={({ target }) => change({ [name]: numberFrom(target.value, draft[name]) })}
                />
              </FormField>
            ))}
          </div>
          <FormField name="radius_km" label={text.radius}>
            <Input
              inputMode="decimal"
              type="number"
              min={0.1}
              max={5000}
              step="any"
              value={draft.radius_km}
              onChange={({ target }) =>
                change({ radius_km: numberFrom(target.value, draft.radius_km) })
              }
            />
          </FormField>
        </>
      ) : (
        <>
          <Corners draft={draft} change={change} />
          <Button
            className="self-start"
            disabled={draft.polygon === null}
            onClick={() => change({ polygon: null })}
          >
            {text.draw_again}
          </Button>
        </>
      )}
    </>
  )
}

function Delete({ zone }: { zone: Zone }) {
  const text = useText(zonesText)
  const words = useWords()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const onError = useToastError()
  const path = { id: zone.id }
  const restore = useMutation({
    mutationFn: () => ok(api.POST('/api/v1/zones/{id}/restore', { params: { path } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['zones'] }),
    onError,
  })
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/api/v1/zones/{id}', { params: { path } })),
    onSuccess: () => {
      navigate('/zones')
      void queryClient.invalidateQueries({ queryKey: ['zones'] })
      toast(text.deleted(zone.label), {
        action: { label: words.undo, onClick: () => restore.mutate() },
      })
    },
    onError,
  })
  return (
    <Button variant="ghost" isPending={remove.isPending} onClick={() => remove.mutate()}>
      {text.delete}
    </Button>
  )
}

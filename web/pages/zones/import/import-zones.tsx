import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Upload } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api, ok } from '../../../api/client.ts'
import { zonesQuery } from '../../../api/queries.ts'
import { useMayEdit } from '../../../api/rights.ts'
import { errorMessage, refusalMessage } from '../../../shared/errors.tsx'
import { ProblemError } from '../../../shared/problem.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, buttonClass } from '../../../ui/button.tsx'
import { Field, Input, Textarea } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/form.tsx'
import { number, useLanguage, useText } from '../../../ui/language.ts'
import { BackToList } from '../../../ui/lists/panes.tsx'
import { toast } from '../../../ui/toast.tsx'
import { useWords } from '../../../ui/words.tsx'
import { zonesText } from '../zones.text.ts'
import { type Parsed, parseShapes, type Shape, Unreadable } from './shapes.ts'
import { SiteList } from './site-list.tsx'
import { decodeList, isTable } from './sites.ts'

type Result = { state: 'made' | 'changed' } | { state: 'refused'; reason: string }

/** Zones from a file or pasted text: what was found is shown first, and each is answered for itself. */
export function ImportZones() {
  const text = useText(zonesText)
  const [given, setGiven] = useState('')
  const [radius, setRadius] = useState('50')
  const isList = isTable(given)
  const read = useMemo(() => (isList ? null : readable(given)), [given, isList])
  const shapes = read && 'shapes' in read ? read.shapes : []
  const radius_km = Number(radius.replace(',', '.')) || 50
  const run = useImport(radius_km)
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-4 p-4 md:p-6">
      <header className="flex items-center gap-2">
        <BackToList href="/zones" />
        <h2 className="text-xl">{text.import_title}</h2>
      </header>
      <p className="text-pretty text-muted">{text.import_text}</p>
      <Field label={text.import_label}>
        <Textarea
          rows={8}
          spellCheck={false}
          className="font-mono text-sm"
          value={given}
          onChange={({ target }) => {
            run.clear()
            setGiven(target.value)
          }}
        />
      </Field>
      <div className="flex flex-wrap items-end gap-4">
        <label
          htmlFor="import-file"
          className={`${buttonClass()} gap-1.5 focus-within:outline-2 focus-within:outline-accent`}
        >
          <Upload size={14} aria-hidden /> {text.import_file}
          <input
            id="import-file"
            type="file"
            className="sr-only"
            accept=".geojson,.json,.kml,.gpx,.wkt,.csv,.txt"
            onChange={async ({ target }) => {
              const file = target.files?.[0]
              if (!file) return
              run.clear()
              setGiven(decodeList(new Uint8Array(await file.arrayBuffer())))
              target.value = ''
            }}
          />
        </label>
        <Field label={text.import_radius} className="w-48">
          <Input
            inputMode="decimal"
            value={radius}
            onChange={({ target }) => setRadius(target.value)}
          />
        </Field>
      </div>
      {isList ? <SiteList given={given} radius_km={radius_km} /> : null}
      {read instanceof Unreadable ? (
        <Notice tone="bad" text={text.unreadable[read.reason]} />
      ) : null}
      {read && 'shapes' in read ? (
        <section className="flex flex-col gap-2">
          <h3>{text.import_found(text.import_forms[read.form], shapes.length)}</h3>
          {read.skipped > 0 ? (
            <p className="text-sm text-warn">{text.import_skipped(read.skipped)}</p>
          ) : null}
          <p className="text-sm text-muted">{text.import_same}</p>
          <ol>
            {shapes.map((shape, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row of the text, which stays where it is
              <Row key={at} shape={shape} nr={at + 1} result={run.results[at]} />
            ))}
          </ol>
          <Button
            variant="primary"
            className="self-start"
            disabled={shapes.length === 0}
            isPending={run.isPending}
            onClick={() => run.start(shapes)}
          >
            {text.import_run(shapes.length)}
          </Button>
        </section>
      ) : null}
    </div>
  )
}

function readable(text: string): Parsed | Unreadable | null {
  if (text.trim() === '') return null
  try {
    return parseShapes(text)
  } catch (error) {
    if (error instanceof Unreadable) return error
    throw error
  }
}

/** Makes or changes one zone after the other; what is refused says why, and the others go on. */
function useImport(place_radius_km: number) {
  const text = useText(zonesText)
  const words = useWords()
  const queryClient = useQueryClient()
  const zones = useQuery(zonesQuery).data ?? []
  const mayEdit = useMayEdit()
  const [results, setResults] = useState<Result[]>([])
  const bring = async (shape: Shape, nr: number): Promise<Result> => {
    const label = shape.label.slice(0, 120) || text.import_unnamed(nr)
    const same = zones.find((zone) => zone.label === label && mayEdit(zone))
    const { lat, lon, polygon } = shape
    const body = polygon
      ? // safe: GeoJSON, which the API checks
        { label, lat, lon, shape_type: 'polygon' as const, polygon: polygon as never }
      : {
          label,
          lat,
          lon,
          shape_type: 'circle' as const,
          radius_km: shape.radius_km ?? place_radius_km,
        }
    try {
      if (same) {
        await ok(api.PATCH('/api/v1/zones/{id}', { params: { path: { id: same.id } }, body }))
        return { state: 'changed' }
      }
      await ok(api.POST('/api/v1/zones', { body }))
      return { state: 'made' }
    } catch (error) {
      const [issue] = error instanceof ProblemError ? (error.problem.errors ?? []) : []
      return {
        state: 'refused',
        reason: issue ? refusalMessage(issue.message, words) : errorMessage(error, words),
      }
    }
  }
  const run = useMutation({
    mutationFn: async (shapes: Shape[]) => {
      const done: Result[] = []
      for (const [at, shape] of shapes.entries()) {
        done.push(await bring(shape, at + 1))
        setResults([...done])
      }
      return done.filter(({ state }) => state !== 'refused').length
    },
    onSuccess: (count) => {
      if (count > 0) toast(text.import_done(count))
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['zones'] }),
  })
  return {
    results,
    isPending: run.isPending,
    start: (shapes: Shape[]) => run.mutate(shapes),
    clear: () => setResults([]),
  }
}

function Row({ shape, nr, result }: { shape: Shape; nr: number; result: Result | undefined }) {
  const text = useText(zonesText)
  const language = useLanguage()
  const say = (value: number) => number(language, value, { maximumFractionDigits: 4 })
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2 text-sm">
      <span className="min-w-0 flex-1 truncate font-medium">
        {shape.label ? <code className="font-sans">{shape.label}</code> : text.import_unnamed(nr)}
      </span>
      <span className="text-muted">{shape.polygon ? text.polygon : text.shapes.circle}</span>
      <span className="text-muted" data-numbers>
        {say(shape.lat)}, {say(shape.lon)}
      </span>
      {result && result.state !== 'refused' ? (
        <Badge tone="good">{text.import_states[result.state]}</Badge>
      ) : null}
      {result?.state === 'refused' ? (
        <code className="basis-full text-xs break-words text-bad">{result.reason}</code>
      ) : null}
    </li>
  )
}

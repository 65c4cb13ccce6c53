import { z } from 'zod'
import { Instant } from '../../../shared/time.ts'
import { instantOfIso } from './times.ts'
import { childrenOf, localName, textOf, type XmlElement } from './xml.ts'

/** A name and a value, as in `parameter`, `eventCode` and `geocode`. */
export type CapValue = [name: string, value: string]

/** Where an alert applies. Polygons are `lat,lon lat,lon …`, circles `lat,lon radius_km`, as written. */
export type CapArea = {
  description: string
  polygons: string[]
  circles: string[]
  geocodes: CapValue[]
}

/** What an alert says, in one language. Times are UTC. */
export type CapInfo = {
  language: string
  categories: string[]
  event: string
  responses: string[]
  urgency: string
  severity: string
  certainty: string
  effective: string | null
  onset: string | null
  expires: string | null
  headline: string
  sender_name: string
  web: string
  event_codes: CapValue[]
  parameters: CapValue[]
  areas: CapArea[]
}

/** A message of the Common Alerting Protocol 1.1 or 1.2. A text that is absent is empty. */
export type CapAlert = {
  identifier: string
  sender: string
  sent: string
  status: string
  msg_type: string
  incidents: string
  /** The identifiers of the messages that it replaces or cancels. */
  references: string[]
  infos: CapInfo[]
}

const NAMESPACE = /^urn:oasis:names:tc:emergency:cap:1\.[12]$/

/** The alerts in a document: its root, or wherever they are embedded, e.g. in the entries of an index. */
export function capElements(root: XmlElement): XmlElement[] {
  if (localName(root) === 'alert') return [root]
  return root.children.flatMap(capElements)
}

/** Reads an `alert` element. Throws an error that names the field. */
export function readCapXml(alert: XmlElement): CapAlert {
  const namespace = namespaceOf(alert)
  if (!NAMESPACE.test(namespace)) {
    throw new Error(`alert: the namespace "${brief(namespace)}" is not that of CAP 1.1 or 1.2`)
  }
  const text = (element: XmlElement, name: string) => textOf(element, name) ?? ''
  const texts = (element: XmlElement, name: string) =>
    childrenOf(element, name).flatMap((child) => child.text || [])
  const values = (element: XmlElement, name: string) =>
    childrenOf(element, name).map((child): CapValue => {
      return [text(child, 'valueName'), text(child, 'value')]
    })
  const time = (element: XmlElement, name: string) => timeOf(name, textOf(element, name))
  return checked({
    identifier: text(alert, 'identifier'),
    sender: text(alert, 'sender'),
    sent: time(alert, 'sent'),
    status: text(alert, 'status'),
    msg_type: text(alert, 'msgType'),
    incidents: text(alert, 'incidents'),
    references: splitReferences(text(alert, 'references')),
    infos: childrenOf(alert, 'info').map((info) => ({
      language: text(info, 'language'),
      categories: texts(info, 'category'),
      event: text(info, 'event'),
      responses: texts(info, 'responseType'),
      urgency: text(info, 'urgency'),
      severity: text(info, 'severity'),
      certainty: text(info, 'certainty'),
      effective: time(info, 'effective'),
      onset: time(info, 'onset'),
      expires: time(info, 'expires'),
      headline: text(info, 'headline'),
      sender_name: text(info, 'senderName'),
      web: text(info, 'web'),
      event_codes: values(info, 'eventCode'),
      parameters: values(info, 'parameter'),
      areas: childrenOf(info, 'area').map((area) => ({
        description: text(area, 'areaDesc'),
        polygons: texts(area, 'polygon'),
        circles: texts(area, 'circle'),
        geocodes: values(area, 'geocode'),
      })),
    })),
  })
}

/** An optional text; numbers occur where the standard has text. */
const Text = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).trim())
  .catch('')

/** One text or several. */
const Texts = z
  .union([z.array(Text), Text.transform((text) => [text])])
  .transform((texts) => texts.filter((text) => text !== ''))

/** `[{valueName, value}]` as Meteoalarm writes it, or `{name: [value, …]}` as the NWS does. */
const Values = z
  .union([
    z
      .array(z.object({ valueName: Text, value: Text }))
      .transform((list) => list.map(({ valueName, value }): CapValue => [valueName, value])),
    z
      .record(z.string(), Texts)
      .transform((record) =>
        Object.entries(record).flatMap(([name, all]) =>
          all.map((value): CapValue => [name, value]),
        ),
      ),
  ])
  .catch([])

const Area = z.object({
  areaDesc: Text,
  polygon: Texts,
  circle: Texts,
  geocode: Values,
})

/** One object or a list of them. */
const listOf = <T extends z.ZodType>(item: T) =>
  z.union([z.array(item), item.transform((one) => [one])])

const Info = z.object({
  language: Text,
  category: Texts,
  event: Text,
  responseType: Texts,
  response: Texts,
  urgency: Text,
  severity: Text,
  certainty: Text,
  effective: Text,
  onset: Text,
  expires: Text,
  headline: Text,
  senderName: Text,
  web: Text,
  eventCode: Values,
  parameter: Values,
  parameters: Values,
  area: listOf(Area).catch([]),
})

const Reference = z.object({ identifier: Text })
const Alert = z.object({
  identifier: Text,
  id: Text,
  sender: Text,
  sent: Text,
  status: Text,
  msgType: Text,
  messageType: Text,
  incidents: Text,
  references: z
    .union([
      z.array(Reference).transform((list) => list.map(({ identifier }) => identifier)),
      Text.transform(splitReferences),
    ])
    .catch([]),
  info: listOf(Info).optional().catch(undefined),
})

/**
 * Reads an alert in JSON: with `info` as Meteoalarm writes it, or flat as the properties of an NWS feature.
 * Throws an error that names the field.
 */
export function readCapJson(json: unknown): CapAlert {
  const read = Alert.safeParse(json)
  if (!read.success) throw new Error('alert: is not an object')
  const alert = read.data
  const flat = (): z.infer<typeof Info>[] => {
    const info = Info.parse(json)
    return [{ ...info, area: [Area.parse(json)] }]
  }
  return checked({
    identifier: alert.identifier || alert.id,
    sender: alert.sender,
    sent: timeOf('sent', alert.sent),
    status: alert.status,
    msg_type: alert.msgType || alert.messageType,
    incidents: alert.incidents,
    references: alert.references.filter((identifier) => identifier !== ''),
    infos: (alert.info ?? flat()).map((info) => ({
      language: info.language,
      categories: info.category,
      event: info.event,
      responses: [...info.responseType, ...info.response],
      urgency: info.urgency,
      severity: info.severity,
      certainty: info.certainty,
      effective: timeOf('effective', info.effective),
      onset: timeOf('onset', info.onset),
      expires: timeOf('expires', info.expires),
      headline: info.headline,
      sender_name: info.senderName,
      web: info.web,
      event_codes: info.eventCode,
      parameters: [...info.parameter, ...info.parameters],
      areas: info.area.map(({ areaDesc, polygon, circle, geocode }) => ({
        description: areaDesc,
        polygons: polygon,
        circles: circle,
        geocodes: geocode,
      })),
    })),
  })
}

/** The first value of a name, or undefined. */
export function firstValue(values: readonly CapValue[], name: string): string | undefined {
  return values.find(([given]) => given === name)?.[1]
}

/** A time of an alert; null if it is absent. Throws for what is no time. */
export function timeOf(field: string, text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  const time = instantOfIso(text)
  if (!Instant.safeParse(time).success) {
    throw new Error(`${field}: "${brief(text)}" is not a time in ISO 8601 with an offset`)
  }
  return time
}

/** `sender,identifier,sent` of each message; the sender may contain a comma, the others may not. */
function splitReferences(references: string): string[] {
  return references
    .split(/\s+/)
    .map((reference) => reference.split(',').at(-2)?.trim() ?? '')
    .filter((identifier) => identifier !== '')
}

function checked({ sent, ...alert }: Omit<CapAlert, 'sent'> & { sent: string | null }): CapAlert {
  if (sent === null) throw new Error('sent: is missing')
  for (const name of ['identifier', 'status', 'msg_type'] as const) {
    if (alert[name] === '') throw new Error(`${name === 'msg_type' ? 'msgType' : name}: is missing`)
  }
  return { ...alert, sent }
}

function namespaceOf({ name, attributes }: XmlElement): string {
  const colon = name.indexOf(':')
  const prefix = colon < 0 ? 'xmlns' : `xmlns:${name.slice(0, colon)}`
  return (attributes[prefix] ?? '').trim()
}

/** A text of an upstream as an error quotes it. */
export function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

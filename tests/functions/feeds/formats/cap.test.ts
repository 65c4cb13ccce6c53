import { describe, expect, test } from 'vitest'
import {
  brief,
  capElements,
  firstValue,
  readCapJson,
  readCapXml,
  timeOf,
} from '../../../../functions/feeds/formats/cap.ts'
import { parseXml } from '../../../../functions/feeds/formats/xml.ts'

/** Every field that is read, each with a value of its own. */
const WHOLE = {
  identifier: 'A1',
  sender: 'ops@example.org',
  sent: '2026-03-01T11:00:00.000Z',
  status: 'Actual',
  msg_type: 'Update',
  incidents: 'an incident',
  references: ['A0', 'B0'],
  infos: [
    {
      language: 'de-AT',
      categories: ['Met', 'Geo'],
      event: 'Sturm',
      responses: ['Shelter', 'Monitor'],
      urgency: 'Expected',
      severity: 'Severe',
      certainty: 'Likely',
      effective: '2026-03-01T10:00:00.000Z',
      onset: '2026-03-01T12:00:00.000Z',
      expires: '2026-03-01T18:00:00.000Z',
      headline: 'Ein Sturm',
      sender_name: 'The weather service',
      web: 'https://example.org/',
      event_codes: [['SAME', 'SVR']],
      parameters: [
        ['level', '3'],
        ['kind', 'wind'],
      ],
      areas: [
        {
          description: 'Testland',
          polygons: ['1,2 3,4 5,6', '7,8 9,10 11,12'],
          circles: ['1,2 3', '4,5 6'],
          geocodes: [['EMMA_ID', 'NL018']],
        },
      ],
    },
  ],
}
const REFERENCES = 'a,A0,2026-03-01T10:00:00+00:00\n  b,c,B0,2026-03-01T10:00:00+00:00'

const xml = (inside: string, namespace = 'xmlns="urn:oasis:names:tc:emergency:cap:1.2"') =>
  `<alert ${namespace}>${inside}</alert>`
const HEAD = `<identifier>A1</identifier><sender>ops@example.org</sender>
  <sent>2026-03-01T12:00:00+01:00</sent><status>Actual</status><msgType>Update</msgType>`
const json = {
  identifier: 'A1',
  sender: 'ops@example.org',
  sent: '2026-03-01T12:00:00+01:00',
  status: 'Actual',
  msgType: 'Update',
}

describe('an alert in XML', () => {
  test('is read with every field, and texts that are empty are no texts', () => {
    const text = xml(`${HEAD}<incidents>an incident</incidents>
      <references>${REFERENCES}</references>
      <info><language>de-AT</language><category>Met</category><category>Geo</category><category/>
      <event>Sturm</event><responseType>Shelter</responseType><responseType>Monitor</responseType>
      <urgency>Expected</urgency><severity>Severe</severity><certainty>Likely</certainty>
      <effective>2026-03-01T10:00:00Z</effective><onset>2026-03-01T12:00:00Z</onset>
      <expires>2026-03-01T18:00:00Z</expires><senderName>The weather service</senderName>
      <headline>Ein Sturm</headline><web>https://example.org/</web>
      <eventCode><valueName>SAME</valueName><value>SVR</value></eventCode>
      <parameter><valueName>level</valueName><value>3</value></parameter>
      <parameter><valueName>kind</valueName><value>wind</value></parameter>
      <area><areaDesc>Testland</areaDesc><polygon>1,2 3,4 5,6</polygon><polygon/>
      <polygon>7,8 9,10 11,12</polygon><circle>1,2 3</circle><circle>4,5 6</circle>
      <geocode><valueName>EMMA_ID</valueName><value>NL018</value></geocode></area></info>`)
    expect(readCapXml(parseXml(text))).toEqual(WHOLE)
  })

  test('has empty texts and lists for what it does not say', () => {
    expect(readCapXml(parseXml(xml(`${HEAD}<info><area/></info>`)))).toMatchObject({
      incidents: '',
      references: [],
      infos: [{ language: '', categories: [], onset: null, areas: [{ polygons: [] }] }],
    })
  })

  test.each([
    ['xmlns=" urn:oasis:names:tc:emergency:cap:1.1 "', null],
    ['', 'alert: the namespace "" is not that of CAP 1.1 or 1.2'],
    ['xmlns="urn:oasis:names:tc:emergency:cap:1.3"', 'namespace "urn:oasis'],
    ['xmlns="urn:oasis:names:tc:emergency:cap:1.20"', 'namespace "urn:oasis'],
    ['xmlns="x:urn:oasis:names:tc:emergency:cap:1.2"', 'namespace "x:urn'],
    ['xmlns:cap="urn:oasis:names:tc:emergency:cap:1.2"', 'namespace ""'],
  ])('with %j: its namespace is judged', (namespace, reason) => {
    const read = () => readCapXml(parseXml(xml(HEAD, namespace)))
    if (reason === null) expect(read().identifier).toBe('A1')
    else expect(read).toThrow(reason)
  })

  test('is found wherever it stands in a document', () => {
    const one = xml(HEAD)
    expect(capElements(parseXml(one))).toHaveLength(1)
    expect(
      capElements(parseXml(`<a><b>${one}</b><alerts><c>${one}</c></alerts></a>`)),
    ).toHaveLength(2)
    expect(capElements(parseXml('<feed><entry/></feed>'))).toEqual([])
  })
})

describe('an alert in JSON', () => {
  const [whole] = WHOLE.infos
  const area = {
    areaDesc: 'Testland',
    polygon: ['1,2 3,4 5,6', '', '7,8 9,10 11,12'],
    circle: ['1,2 3', '4,5 6'],
    geocode: { EMMA_ID: ['NL018'] },
  }
  const flat = {
    language: ' de-AT ',
    category: ['Met', 'Geo'],
    event: 'Sturm',
    responseType: ['Shelter'],
    response: 'Monitor',
    urgency: 'Expected',
    severity: 'Severe',
    certainty: 'Likely',
    effective: '2026-03-01T10:00:00Z',
    onset: '2026-03-01T12:00:00Z',
    expires: '2026-03-01T18:00:00Z',
    headline: 'Ein Sturm',
    senderName: 'The weather service',
    web: 'https://example.org/',
    eventCode: { SAME: ['SVR'] },
    parameter: [{ valueName: 'level', value: 3 }],
    parameters: { kind: ['wind'] },
  }

  test.each<[string, object]>([
    ['with a list of what it says', { info: [{ ...flat, area: [area] }] }],
    ['with one info and one area', { info: { ...flat, area } }],
    ['flat', { ...flat, ...area }],
  ])('is read with every field: %s', (_, more) => {
    const given = { ...json, incidents: 'an incident', references: REFERENCES, ...more }
    expect(readCapJson(given)).toEqual({ ...WHOLE, infos: [whole] })
  })

  test('may name itself and its kind as the NWS does', () => {
    const { identifier, msgType, ...rest } = json
    expect(readCapJson({ ...rest, id: 'N1', messageType: 'Cancel' })).toMatchObject({
      identifier: 'N1',
      msg_type: 'Cancel',
    })
    expect(readCapJson({ ...json, id: 'N1', messageType: 'Cancel' })).toMatchObject({
      identifier: 'A1',
      msg_type: 'Update',
    })
  })

  test('may list what it replaces, of which what has no name is left out', () => {
    const references = [{ identifier: 'A0' }, { identifier: '' }, { other: 1 }, { identifier: 7 }]
    expect(readCapJson({ ...json, references }).references).toEqual(['A0', '7'])
  })

  test.each<[object, object]>([
    [
      { parameters: null, eventCode: 'none' },
      { parameters: [], event_codes: [] },
    ],
    [
      { headline: ['a list'], urgency: null },
      { headline: '', urgency: '' },
    ],
    [
      { category: null, responseType: [null, 'Shelter'] },
      { categories: [], responses: ['Shelter'] },
    ],
  ])('without a readable %j is read as if it said nothing of it', (given, expected) => {
    expect(readCapJson({ ...json, ...given }).infos).toMatchObject([expected])
  })

  test('with areas that are not readable has none', () => {
    expect(readCapJson({ ...json, info: { area: 'everywhere' } }).infos[0]?.areas).toEqual([])
  })

  test('with an unreadable list of what it says is read flat', () => {
    expect(readCapJson({ ...json, ...flat, info: 'none' }).infos[0]?.event).toBe('Sturm')
  })

  test.each([
    [{ sent: '' }, 'sent: is missing'],
    [{ sent: '2026-03-01T12:00' }, 'sent: "2026-03-01T12:00" is not a time'],
    [{ onset: 'at noon' }, 'onset: "at noon" is not a time in ISO 8601 with an offset'],
    [{ effective: 'at noon' }, 'effective: "at noon"'],
    [{ expires: 'at noon' }, 'expires: "at noon"'],
    [{ identifier: '' }, 'identifier: is missing'],
    [{ status: '' }, 'status: is missing'],
    [{ msgType: '' }, 'msgType: is missing'],
  ])('with %j is refused by the name of the field', (given, reason) => {
    expect(() => readCapJson({ ...json, ...given })).toThrow(reason)
  })

  test.each([null, 1, 'text', []])('is none in %j', (given) => {
    expect(() => readCapJson(given)).toThrow('alert: is not an object')
  })
})

test('references that name nothing are left out', () => {
  const references = 'alone  ,,2026-03-01T10:00:00Z a,A0,2026-03-01T10:00:00Z'
  expect(readCapJson({ ...json, references }).references).toEqual(['A0'])
})

test('the first value of a name counts', () => {
  const values: [string, string][] = [
    ['a', '1'],
    ['b', '2'],
    ['b', '3'],
  ]
  expect(firstValue(values, 'b')).toBe('2')
  expect(firstValue(values, 'c')).toBeUndefined()
})

test('a time that is absent is none, and one without an offset is refused', () => {
  expect(timeOf('onset', undefined)).toBeNull()
  expect(timeOf('onset', '')).toBeNull()
  expect(() => timeOf('onset', '2026-03-01T12:00:00')).toThrow('onset: ')
})

test('a text of more than 60 letters is quoted in part', () => {
  expect(brief('x'.repeat(60))).toBe('x'.repeat(60))
  expect(brief('x'.repeat(61))).toBe(`${'x'.repeat(60)}…`)
})

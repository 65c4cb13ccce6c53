import type { CapValue } from './cap.ts'

/** A Valid Time Event Code of the NWS (NWSI 10-1703): what happens to which hazard. */
type Vtec = { product: string; action: string; hazard: string }

const CODE =
  /\/([OTEX])\.([A-Z]{3})\.([A-Z]{4}\.[A-Z]{2}\.[A-Z]\.\d{4})\.\d{6}T\d{4}Z-\d{6}T\d{4}Z\//g

/** The codes in the parameters of an alert; the hydrologic ones beside them say nothing of this kind. */
export function readVtec(parameters: readonly CapValue[]): Vtec[] {
  return parameters
    .filter(([name]) => name === 'VTEC' || name === 'NWSVTEC')
    .flatMap(([, value]) => [...value.matchAll(CODE)])
    .map(([, product = '', action = '', hazard = '']) => ({ product, action, hazard }))
}

/** Cancelled, expired or replaced by another hazard: all that an alert is about. */
export function endsHazard(codes: readonly Vtec[]): boolean {
  return codes.length > 0 && codes.every(({ action }) => ENDINGS.includes(action))
}
const ENDINGS = ['CAN', 'EXP', 'UPG']

/** `vtec:<office>.<phenomenon>.<significance>.<number>` of the hazard that goes on; null without a code. */
export function subjectOf(codes: readonly Vtec[]): string | null {
  const code = codes.find(({ action }) => !ENDINGS.includes(action)) ?? codes[0]
  return code ? `vtec:${code.hazard}` : null
}

export function AlertsPage({ id }: { id: string | undefined }) {
  return <p>{id}</p>
}

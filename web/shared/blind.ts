/** Whether a source delivers nothing, although it is watched; `disabled` ones are not. */
export const isBlind = ({ status }: { status: string }) => status === 'stale' || status === 'down'

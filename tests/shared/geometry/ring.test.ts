import { describe, expect, it } from 'vitest'
import { edgesMeet, isOnEdge, TOLERANCE_DEG, type Vertex } from '../../../shared/geometry/ring.ts'

const A: Vertex = [0, 0]
const B: Vertex = [10, 0]

describe('two edges', () => {
  it.each<[how: string, c: Vertex, d: Vertex, meet: boolean]>([
    ['cross', [5, -1], [5, 1], true],
    ['touch where the first end of the other is', [5, 0], [5, 3], true],
    ['touch where the second end of the other is', [5, 3], [5, 0], true],
    ['touch at a corner', [10, 0], [12, 4], true],
    ['overlap', [4, 0], [20, 0], true],
    ['lie in each other', [-5, 0], [20, 0], true],
    ['cross a turn of the Earth away', [365, -1], [365, 1], true],
    ['cross a turn of the Earth away, to the west', [-355, -1], [-355, 1], true],
    ['are parallel', [0, 1], [10, 1], false],
    ['are apart on one line', [11, 0], [20, 0], false],
    ['would cross if the other were longer', [5, 1], [5, 3], false],
    ['would cross if the first were longer', [12, -1], [12, 1], false],
  ])('%s', (_, c, d, meet) => {
    expect(edgesMeet(A, B, c, d)).toBe(meet)
    expect(edgesMeet(B, A, d, c)).toBe(meet)
    expect(edgesMeet(c, d, A, B)).toBe(meet)
  })
})

describe('a point', () => {
  it.each<[p: Vertex, on: boolean]>([
    [[5, 0], true],
    [[0, 0], true],
    [[10, 0], true],
    [[5, 0.001], false],
    [[-0.001, 0], false],
    [[10.001, 0], false],
  ])('%o is on the edge: %s', (p, on) => {
    expect(isOnEdge(p, A, B)).toBe(on)
    expect(isOnEdge(p, B, A)).toBe(on)
  })

  it('is on an edge as far beyond its ends as places count as the same, and no farther', () => {
    const near = TOLERANCE_DEG
    const far = 2.5 * TOLERANCE_DEG
    const [west, north]: Vertex[] = [
      [-1, 0],
      [0, 1],
    ]
    for (const [end, beyond] of [
      [[1, 0], (by: number): Vertex => [1 + by, 0]],
      [west, (by: number): Vertex => [-1 - by, 0]],
      [north, (by: number): Vertex => [0, 1 + by]],
      [[0, -1], (by: number): Vertex => [0, -1 - by]],
    ] as [Vertex, (by: number) => Vertex][]) {
      for (const [a, b] of [
        [[0, 0], end],
        [end, [0, 0]],
      ] as [Vertex, Vertex][]) {
        expect(isOnEdge(beyond(near), a, b)).toBe(true)
        expect(isOnEdge(beyond(far), a, b)).toBe(false)
      }
    }
  })

  it('is on an edge without length only where that is', () => {
    expect(isOnEdge([0, 0], A, A)).toBe(true)
    expect(isOnEdge([0, 0.1], A, A)).toBe(false)
  })
})

import { describe, expect, test } from 'vitest'
import { rewordings } from '../../../../hub/agents/evidence/rewordings.ts'

const english = (sentence: string) =>
  rewordings(sentence.split(' '), 'en').map((tokens) => tokens.join(' '))
const turkish = (sentence: string) =>
  rewordings(sentence.split(' '), 'tr').map((tokens) => tokens.join(' '))

describe('a passive is the active of whoever does it', () => {
  test.each(
    `built build, bought buy, brought bring, caught catch, dealt deal, fed feed, found find, held hold, kept keep,
     led lead, left leave, lent lend, lost lose, made make, met meet, paid pay, run run, said say, sent send, sold sell,
     spent spend, taught teach, told tell, won win, done do, drawn draw, driven drive, given give, grown grow,
     known know, seen see, shown show, taken take, written write, chosen choose, plan-ned plan, paint-ed paint,
     bake-d bake, carri-ed carry`
      .split(',')
      .map((pair) => pair.trim().split(' ')),
  )('%s comes from %s', (written = '', base) => {
    const participle = written.replace('-', '')
    expect(english(`hats are ${participle} by ‹us›`)).toContain(`‹us› ${base} hats`)
    expect(english(`the hat is ${participle} by ‹company›`)).toContain(`‹company› ${base} the hat`)
    expect(english(`hats are ${participle} in Bursa`)).toEqual(
      expect.arrayContaining(
        ['‹us›', '‹you›', '‹person›', '‹company›'].map((who) => `${who} ${base} hats in Bursa`),
      ),
    )
  })

  test.each(
    `drawn drew, driven drove, given gave, grown grew, known knew, seen saw, shown showed, taken took, written wrote,
     chosen chose, done did, sold sold, planned planned`
      .split(',')
      .map((pair) => pair.trim().split(' ')),
  )('what was %s, somebody %s', (participle, past) => {
    expect(english(`the plant was ${participle} by ‹us› in 2022`)).toContain(
      `‹us› ${past} the plant in 2022`,
    )
  })

  test.each('cut put set hit shut split spread'.split(' '))('%s says which time it is', (verb) => {
    expect(english(`the hat was ${verb} by ‹us›`)).toContain(`‹us› ${verb}:past the hat`)
    expect(english(`the hat is ${verb} by ‹us›`)).toContain(`‹us› ${verb}:s the hat`)
  })

  test.each([
    'no hats are made by ‹us›',
    'hats are made by nobody',
    'each hat is made by ‹us›',
    'are made by ‹us›',
    'hats are',
  ])('“%s” has none', (sentence) => {
    expect(english(sentence).filter((text) => /\bmakes? /.test(text))).toEqual([])
  })

  test.each([
    ['taped', 'tap', 'tape'],
    ['scraped', 'scrap', 'scrape'],
    ['used', 'us', 'use'],
    ['tapped', 'tape', 'tap'],
  ])('what is %s is not what somebody %ss', (participle, other, base) => {
    expect(english(`hats are ${participle} by ‹us›`)).not.toContain(`‹us› ${other} hats`)
    expect(english(`hats are ${participle} by ‹us›`)).toContain(`‹us› ${base} hats`)
  })

  test('what somebody is, and not done to them, has none', () => {
    expect(english('the hat is blue by ‹us›').filter((text) => text.startsWith('‹us›'))).toEqual([])
  })
})

describe('what says the same', () => {
  test.each([
    ['40 people work for ‹company›', '‹company› employ 40 people'],
    ['more than 40 people are employed by ‹us›', '‹us› employ more than 40 people'],
    ['‹company› have 40 employees', '‹company› employ 40 people'],
    ['‹you› pay nothing for the trial', 'the trial is free'],
    ['the trial is free of charge', 'the trial is free'],
    ['the trial is at no cost', 'the trial is free'],
    ['the trial costs nothing', 'the trial is free'],
    [
      '‹company›:of turnover was 2 million in 2022',
      '‹company› had a turnover of 2 million in 2022',
    ],
    ['‹company›:of turnover is 2 million', '‹company› have a turnover of 2 million'],
  ])('“%s” as “%s”', (sentence, other) => {
    expect(english(sentence)).toContain(other)
  })
})

test.each(['you', 'person', 'company'])('‹%s› who is free costs something', (who) => {
  for (const cost of ['be free of charge', 'is free of charge', 'be at no cost', 'costs nothing']) {
    expect(english(`‹${who}› ${cost}`).filter((text) => / (?:is|be) free$/.test(text))).toEqual([])
  }
  expect(english('‹us› be free of charge')).toContain('‹us› be free')
})

describe('in Turkish what was done is what somebody did', () => {
  test.each([
    ['depo 1998:de ‹us› tarafından kuruldu', '‹us› depoyu 1998:de kurdu'],
    ['depo 1998:de kuruldu', '‹company› depoyu 1998:de kurdu'],
    ['kapı ‹us› tarafından alındı', '‹us› kapıyı aldı'],
    ['gemi ‹us› tarafından satıldı', '‹us› gemiyi sattı'],
    ['büyük ofis ‹us› tarafından açıldı', '‹us› büyük ofisi açtı'],
    ['ofis kapısı ‹us› tarafından açıldı', '‹us› ofis kapısını açtı'],
  ])('“%s” as “%s”', (sentence, other) => {
    expect(turkish(sentence)).toContain(other)
  })

  test.each([
    'depo ali tarafından kuruldu',
    'depo ‹us› tarafından kuruluyor',
    '3 ‹us› tarafından kuruldu',
  ])('“%s” says so of nobody', (sentence) => {
    expect(turkish(sentence).filter((text) => text.endsWith('kurdu'))).toEqual([])
  })
})

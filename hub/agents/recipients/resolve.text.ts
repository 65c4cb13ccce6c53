import { texts } from '../../i18n/words.ts'

/** Whom a task is for, and why; or what has to be said first. */
export const resolveText = texts(
  {
    named: (words: string) => `The task names ${words}.`,
    group: (words: string) => `The task says “${words}”.`,
    campaign: 'A campaign without named recipients goes to the new leads.',
    newest: 'The task names nobody: the newest leads without a draft.',
    which: (words: string, count: number) =>
      `“${words}” fits ${count} leads. Say which one: choose it, or write the name and company in full.`,
    maybe: (words: string) =>
      `Is “${words}” a lead? Choose the recipients, or write the name in full and capitalised.`,
    unknown: (words: string) =>
      `No lead of this project is called “${words}”. Add the lead first, or choose the recipients.`,
    unknown_address: (address: string) =>
      `No lead of this project has the address ${address}. Add the lead first, or choose the recipients.`,
    excludes: (words: string) =>
      `The task excludes somebody (“${words}”), which only you can decide. Choose the recipients.`,
    mixed: (words: string, group: string) =>
      `The task names ${words} and the group “${group}”. Give one mission for each, or choose the recipients.`,
    two_groups: (one: string, other: string) =>
      `The task describes two groups, “${one}” and “${other}”. Give one mission for each.`,
    about: (words: string) =>
      `The task is about ${words}, but does not say who receives it. Choose the recipients.`,
    described: (words: string) =>
      `The task is for “${words}”, and no lead or group is known by these words. Choose the recipients.`,
    related: (words: string) =>
      `The task is for somebody else, whom it describes by ${words}. Choose the recipients.`,
    beside: (words: string, others: string) =>
      `The task is for ${words} and also for “${others}”, whom it does not name. Choose the recipients, or give one mission for each.`,
    beside_address: (address: string, others: string) =>
      `The task gives the address ${address} and lists “${others}” with it. Choose the recipients, or give one mission for each.`,
    too_many: 'Too many leads share these words. Choose the recipients.',
    one_only: (count: number) =>
      `This agent writes for one lead at a time, and the task is for ${count}. Choose one.`,
    at_most: (count: number, most: number) =>
      `This agent takes at most ${most} leads at a time, and the task is for ${count}. Choose fewer.`,
    no_group:
      'This agent works on single leads, not on a group. Choose the leads, or ask Marketing for a campaign.',
    gone: (count: number) =>
      count === 1
        ? 'One of the chosen leads no longer exists in this project. Choose again.'
        : `${count} of the chosen leads no longer exist in this project. Choose again.`,
    in_language: {
      en: (count: number) => `${count} in English`,
      tr: (count: number) => `${count} in Turkish`,
    },
    one_language: (groups: string, language: string) =>
      `Its recipients read two languages (${groups}); a sequence has one, here ${language}. Name the language, or plan one for each group.`,
    unwritten: (languages: string) =>
      `The hub writes English and Turkish; leads with another language get English: ${languages}.`,
    languages: { en: 'English', tr: 'Turkish' },
    all_in: (language: string, count: number) =>
      count === 1
        ? `By their language or country, the recipient is written to in ${language}.`
        : `By their language or country, all ${count} recipients are written to in ${language}.`,
    counted: (language: string, count: number) => `${language} (${count})`,
    not_known: 'not known',
    some_in: (counts: string) =>
      `By their language or country, the recipients are written to in ${counts}. Choose one language.`,
    too_many_readers: (count: number, most: number) =>
      `${count} recipients read one language; at most ${most} can be parted by language. Name the language, or choose fewer.`,
    choose: (choices: string) => `Possible: ${choices}.`,
    nobody_in_group: (words: string) => `No lead fits “${words}”.`,
  },
  {
    named: (words) => `Görevde adı geçen: ${words}.`,
    group: (words) => `Görevde “${words}” yazıyor.`,
    campaign: 'Alıcısı belirtilmeyen kampanya yeni adaylara gider.',
    newest: 'Görevde kimsenin adı geçmiyor: taslağı olmayan en yeni adaylar.',
    which: (words, count) =>
      `“${words}” ${count} adaya uyuyor. Hangisi olduğunu seçin ya da adı ve şirketi tam yazın.`,
    maybe: (words) =>
      `“${words}” bir aday mı? Alıcıları seçin ya da adı tam ve büyük harfle yazın.`,
    unknown: (words) =>
      `Bu projede “${words}” adlı bir aday yok. Önce adayı ekleyin ya da alıcıları seçin.`,
    unknown_address: (address) =>
      `Bu projede ${address} adresli bir aday yok. Önce adayı ekleyin ya da alıcıları seçin.`,
    excludes: (words) =>
      `Görev birini dışarıda bırakıyor (“${words}”); buna yalnızca siz karar verebilirsiniz. Alıcıları seçin.`,
    mixed: (words, group) =>
      `Görevde hem ${words} hem de “${group}” grubu var. Her biri için ayrı görev verin ya da alıcıları seçin.`,
    two_groups: (one, other) =>
      `Görevde iki grup var: “${one}” ve “${other}”. Her biri için ayrı görev verin.`,
    about: (words) => `Görev ${words} hakkında, ama alıcıyı söylemiyor. Alıcıları seçin.`,
    described: (words) =>
      `Görev “${words}” için, ama bu sözcüklerden bir aday ya da grup çıkmıyor. Alıcıları seçin.`,
    related: (words) =>
      `Görev başka biri için; ${words} yalnızca onu tarif ederken geçiyor. Alıcıları seçin.`,
    beside: (words, others) =>
      `Görev ${words} ile birlikte, adını vermediği birine de (“${others}”) yönelik. Alıcıları seçin ya da her biri için ayrı görev verin.`,
    beside_address: (address, others) =>
      `Görevde ${address} adresi ve yanında “${others}” var. Alıcıları seçin ya da her biri için ayrı görev verin.`,
    too_many: 'Bu sözcükler çok fazla adaya uyuyor. Alıcıları seçin.',
    one_only: (count) =>
      `Bu ajan her seferinde tek aday için yazar; görev ${count} aday için. Birini seçin.`,
    at_most: (count, most) =>
      `Bu ajan bir seferde en çok ${most} aday alır; görev ${count} aday için. Daha azını seçin.`,
    no_group:
      'Bu ajan gruplarla değil, tek tek adaylarla çalışır. Adayları seçin ya da kampanyayı Pazarlama ajanından isteyin.',
    gone: (count) => `Seçilen ${count} aday artık bu projede yok. Yeniden seçin.`,
    in_language: {
      en: (count) => `İngilizce: ${count}`,
      tr: (count) => `Türkçe: ${count}`,
    },
    one_language: (groups, language) =>
      `Alıcılar iki dil okuyor (${groups}); bir dizi tek dilde olur, burada ${language}. Dili belirtin ya da her grup için ayrı dizi planlayın.`,
    unwritten: (languages) =>
      `Hub İngilizce ve Türkçe yazar; başka dildeki adaylar İngilizce alır: ${languages}.`,
    languages: { en: 'İngilizce', tr: 'Türkçe' },
    all_in: (language, count) =>
      count === 1
        ? `Diline ya da ülkesine göre alıcıya ${language} yazılır.`
        : `Dillerine ya da ülkelerine göre ${count} alıcının hepsine ${language} yazılır.`,
    counted: (language, count) => `${language} (${count})`,
    not_known: 'bilinmiyor',
    some_in: (counts) =>
      `Dillerine ya da ülkelerine göre alıcılara yazılacak diller: ${counts}. Birini seçin.`,
    too_many_readers: (count, most) =>
      `Aynı dili okuyan ${count} alıcı var; dile göre en çok ${most} alıcı ayrılabilir. Dili belirtin ya da daha az alıcı seçin.`,
    choose: (choices) => `Olası adaylar: ${choices}.`,
    nobody_in_group: (words) => `“${words}” tanımına uyan aday yok.`,
  },
)

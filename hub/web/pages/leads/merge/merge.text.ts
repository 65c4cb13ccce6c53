import { texts } from '../../../../../shared/words/texts.ts'
import { plural } from '../../../../../web/ui/language.ts'

/** Duplicates, merging them, and the history of imports. */
export const mergeText = texts(
  {
    title: 'Duplicates',
    menu: 'Duplicates',
    back: 'Leads',
    text: 'Leads that may be the same person or company. Choose two of this project, compare them, and merge them into one.',
    empty: {
      title: 'No duplicates',
      text: 'No two leads of this project share a name, a phone number or the domain of a company.',
    },
    kinds: {
      email: 'Same e-mail in another project',
      domain: 'Same company domain',
      name: 'Same name',
      phone: 'Same phone number',
    },
    elsewhere: (project: string) => `in ${project}`,
    compare: 'Compare',
    select: (name: string) => `Choose ${name}`,
    merge: {
      title: 'Merge two leads',
      kept: 'Stays',
      gone: 'Goes',
      swap: 'Keep the other one',
      take: (field: string, value: string) => `${field}: ${value}`,
      amount: 'Amount',
      next_step: 'Next step',
      close_on: 'Expected close',
      all: 'Tags, notes, tasks, timeline, evidence, mails and replies of both stay. If one of them asked for no more mail, the merged lead gets none.',
      way_back:
        'It can be undone for 30 days, as long as nothing else happens to the lead: here at the end of the page, and on the lead’s timeline.',
      undone: 'The two leads are two again',
      undo_label: (gone: string, kept: string) => `Undo: ${gone} went into ${kept}`,
      undo_title: 'Undo this merge?',
      undo_of: (gone: string, kept: string) => `${gone} went into ${kept}`,
      undo_text:
        'Both leads and everything that belongs to them become exactly what they were before. Only addresses that were put on the suppression list stay there.',
      undo_submit: 'Make them two again',
      submit: 'Merge',
      done: 'The two leads are one now',
      dropped: (n: number) =>
        plural('en', n, {
          one: '# entry that both had was left out; the record of the merge has it.',
          other: '# entries that both had were left out; the record of the merge has them.',
        }),
    },
    record: {
      title: 'Merged in the last 30 days',
      undone: 'Undone',
      line: (gone: string, kept: string) => `${gone} went into ${kept}`,
      open: 'Open the lead',
    },
    imports: {
      title: 'Imports',
      menu: 'Import history',
      empty: {
        title: 'No imports yet',
        text: 'Each list that you import appears here with what came of it.',
      },
      file: 'File',
      rows: 'Rows',
      created: 'Added',
      merged: 'Completed',
      skipped: 'Unchanged',
      refused: 'With mistakes',
      status: {
        queued: 'Waiting',
        processing: 'Running',
        done: 'Done',
        failed: 'Failed',
        undone: 'Undone',
      },
      when: 'When',
      refused_file: 'Download the rows with mistakes',
      undo: 'Undo',
      undo_label: (file: string) => `Undo the import of ${file}`,
      undo_title: 'Undo this import?',
      undo_text:
        'Leads that it added and that nobody worked with are deleted. A lead with a change, note, task, mail or finding since stays, and so does what the import added to leads that were there before.',
      undone: (removed: number, kept: number) =>
        kept > 0 ? `${removed} leads deleted, ${kept} stay` : `${removed} leads deleted`,
      removed: (n: number) => plural('en', n, { one: '# lead deleted', other: '# leads deleted' }),
    },
  },
  {
    title: 'Yinelenenler',
    menu: 'Yinelenenler',
    back: 'Adaylar',
    text: 'Aynı kişi ya da firma olabilecek adaylar. Bu projeden ikisini seçip karşılaştırın ve tek adayda birleştirin.',
    empty: {
      title: 'Yinelenen yok',
      text: 'Bu projede adı, telefonu ya da firma alan adı aynı olan iki aday yok.',
    },
    kinds: {
      email: 'Başka projede aynı e-posta',
      domain: 'Aynı firma alan adı',
      name: 'Aynı ad',
      phone: 'Aynı telefon',
    },
    elsewhere: (project) => `${project} projesinde`,
    compare: 'Karşılaştır',
    select: (name) => `${name} adayını seç`,
    merge: {
      title: 'İki adayı birleştir',
      kept: 'Kalan',
      gone: 'Giden',
      swap: 'Diğeri kalsın',
      take: (field, value) => `${field}: ${value}`,
      amount: 'Tutar',
      next_step: 'Sonraki adım',
      close_on: 'Beklenen sonuç',
      all: 'İkisinin etiketleri, notları, yapılacakları, geçmişi, kanıtları, e-postaları ve yanıtları kalır. Biri artık e-posta istemediyse birleşen adaya e-posta gitmez.',
      way_back:
        'Adayda başka bir şey olmadıkça 30 gün boyunca geri alınabilir: bu sayfanın sonunda ve adayın geçmişinde.',
      undone: 'İki aday yeniden ayrı',
      undo_label: (gone, kept) => `Geri al: ${gone} → ${kept}`,
      undo_title: 'Bu birleştirme geri alınsın mı?',
      undo_of: (gone, kept) => `${gone} → ${kept}`,
      undo_text:
        'İki aday ve onlara ait her şey tam olarak önceki hâline döner. Yalnızca engelleme listesine eklenen adresler orada kalır.',
      undo_submit: 'Yeniden ayır',
      submit: 'Birleştir',
      done: 'İki aday artık bir',
      dropped: (n) =>
        plural('tr', n, {
          other: 'İkisinde de olan # kayıt dışarıda kaldı; birleştirme kaydında duruyor.',
        }),
    },
    record: {
      title: 'Son 30 günde birleştirilenler',
      undone: 'Geri alındı',
      line: (gone, kept) => `${gone} → ${kept}`,
      open: 'Adayı aç',
    },
    imports: {
      title: 'İçe aktarmalar',
      menu: 'Aktarma geçmişi',
      empty: {
        title: 'Henüz aktarma yok',
        text: 'Aktardığınız her liste sonucuyla birlikte burada görünür.',
      },
      file: 'Dosya',
      rows: 'Satır',
      created: 'Eklenen',
      merged: 'Tamamlanan',
      skipped: 'Değişmeyen',
      refused: 'Hatalı',
      status: {
        queued: 'Bekliyor',
        processing: 'Sürüyor',
        done: 'Bitti',
        failed: 'Başarısız',
        undone: 'Geri alındı',
      },
      when: 'Zaman',
      refused_file: 'Hatalı satırları indir',
      undo: 'Geri al',
      undo_label: (file) => `${file} aktarmasını geri al`,
      undo_title: 'Bu aktarma geri alınsın mı?',
      undo_text:
        'Eklediği ve kimsenin çalışmadığı adaylar silinir. Sonradan değişikliği, notu, yapılacağı, e-postası ya da bulgusu olan aday kalır; önceden var olan adaylara ekledikleri de kalır.',
      undone: (removed, kept) =>
        kept > 0 ? `${removed} aday silindi, ${kept} aday kaldı` : `${removed} aday silindi`,
      removed: (n) => plural('tr', n, { other: '# aday silindi' }),
    },
  },
)

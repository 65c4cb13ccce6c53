import { texts } from '../i18n/words.ts'

/** What is wrong with a CSV file or one of its rows, and why an import stopped. */
export const importsText = texts(
  {
    file: {
      none: 'Choose a file.',
      type: 'Send the file as text/csv or in a form.',
      no_header: 'The file has no header row. Put the column names in row 1.',
      unclosed: (line: number) =>
        `The file is not valid CSV: a quotation mark opened before line ${line} is never closed. Close or remove it.`,
      damaged: 'The file is not valid CSV. Save it as CSV in a spreadsheet, then choose it again.',
    },
    mapping: {
      no_json: 'The mapping is not valid JSON.',
      no_column: (column: string) => `The file has no column “${column}”. Choose the file again.`,
      no_field: (key: string) => `The project has no field “${key}”. Choose another field.`,
      unnamed: 'Choose the column with the name, the e-mail or the company.',
    },
    basis_note:
      'A legitimate interest needs a note: which interest it is, and why it weighs more than the person’s own.',
    row: {
      amount: 'The amount must be a number of zero or more, such as 1,250.00.',
      no_currency: 'The amount has no currency. Choose the column with the currency, e.g. EUR.',
      not_closed: 'A reason belongs to a lead whose stage is won or lost.',
      date: 'The date must be written as 2026-03-01 or 01.03.2026.',
      stage: 'The stage must be new, contacted, replied, meeting, proposal, won or lost.',
      language: 'The language must be a name or a code, such as Turkish or tr.',
      lawful_basis: 'The lawful basis must be consent, contract or legitimate interest.',
      score: 'The score must be a whole number from 0 to 100.',
      cells: (cells: number, columns: number) =>
        `The row has ${cells} cells, but the header has ${columns}. Look for a missing quotation mark.`,
      unnamed: 'The row has no name, e-mail or company.',
      known_email: 'Another lead of this project has this e-mail.',
      too_many_tags: (tags: number, most: number) =>
        `With this row the lead would have ${tags} tags, and one lead can have ${most}. Take some out of the row or off the lead.`,
      long_note: (length: number, most: number) =>
        `The note has ${length} characters, and a row can bring ${most}. Shorten it, or look for a missing quotation mark.`,
      divided_note: (length: number, notes: number) =>
        `The note has ${length} characters. It is kept whole, as ${notes} notes.`,
      cut_fact: (length: number, most: number) =>
        `The cell has ${length} characters, and a fact has ${most}. The fact has the beginning; the whole cell is shown under it.`,
      cut_cell: (length: number, most: number, shown: number) =>
        `The cell has ${length} characters, and a fact has ${most}. The fact has the beginning, and the first ${shown} are shown under it.`,
      cut_quote: (most: number) =>
        `The row has more than ${most} characters. What the lead’s evidence quotes of it ends in this cell.`,
    },
    facts: {
      no_json: 'The list of columns is not valid JSON.',
      over: (most: number, columns: string) =>
        `A list keeps ${most} columns as facts; these were not kept: ${columns}`,
      cut: (cells: number, most: number) =>
        cells === 1
          ? `1 cell was longer than ${most} characters; its fact has the beginning.`
          : `${cells} cells were longer than ${most} characters; their facts have the beginning.`,
    },
    undo: {
      twice: 'This import was undone before.',
      running: 'The import is still running. Wait until it is done.',
    },
    stopped: {
      gone: 'The file no longer exists. Import it again; leads already imported are not duplicated.',
      fault:
        'An error stopped the import. Import the file again; leads already imported are not duplicated.',
    },
    /** The two columns added to the download of refused rows. */
    columns: { row: 'row', mistakes: 'mistakes' },
  },
  {
    file: {
      none: 'Bir dosya seçin.',
      type: 'Dosyayı text/csv olarak ya da bir formda gönderin.',
      no_header: 'Dosyada başlık satırı yok. Sütun adlarını ilk satıra yazın.',
      unclosed: (line) =>
        `Dosya geçerli bir CSV değil: bir tırnak ${line}. satıra dek kapanmıyor. Kapatın ya da silin.`,
      damaged:
        'Dosya geçerli bir CSV değil. Bir hesap tablosunda CSV olarak kaydedip yeniden seçin.',
    },
    mapping: {
      no_json: 'Eşleme geçerli bir JSON değil.',
      no_column: (column) => `Dosyada “${column}” adlı sütun yok. Dosyayı yeniden seçin.`,
      no_field: (key) => `Projede “${key}” alanı yok. Başka bir alan seçin.`,
      unnamed: 'Adın, e-postanın ya da firmanın hangi sütunda olduğunu seçin.',
    },
    basis_note:
      'Meşru menfaat için bir not gerekir: hangi menfaat olduğu ve neden kişininkinden ağır bastığı.',
    row: {
      amount: 'Tutar sıfır ya da daha büyük bir sayı olmalı, örneğin 1.250,00.',
      no_currency: 'Tutarın para birimi yok. Para biriminin sütununu seçin, örneğin EUR.',
      not_closed: 'Neden, aşaması kazanıldı ya da kaybedildi olan adaya yazılır.',
      date: 'Tarih 2026-03-01 ya da 01.03.2026 gibi yazılmalı.',
      stage:
        'Aşama şunlardan biri olmalı: Yeni, İletişim kuruldu, Yanıtladı, Görüşme, Teklif, Kazanıldı, Kaybedildi.',
      language: 'Dil bir ad ya da kod olmalı, örneğin Türkçe ya da tr.',
      lawful_basis: 'Hukuki dayanak şunlardan biri olmalı: Açık rıza, Sözleşme, Meşru menfaat.',
      score: 'Puan 0 ile 100 arasında bir tam sayı olmalı.',
      cells: (cells, columns) =>
        `Satırda ${cells} hücre var, başlıkta ${columns}. Eksik bir tırnak arayın.`,
      unnamed: 'Satırda ad, e-posta ya da firma yok.',
      known_email: 'Bu e-posta projedeki başka bir adayda kayıtlı.',
      too_many_tags: (tags, most) =>
        `Bu satırla adayın ${tags} etiketi olur; bir adayın en çok ${most} etiketi olabilir. Satırdan ya da adaydan birkaçını çıkarın.`,
      long_note: (length, most) =>
        `Not ${length} karakter; bir satır en çok ${most} karakter getirebilir. Kısaltın ya da eksik bir tırnak arayın.`,
      divided_note: (length, notes) =>
        `Not ${length} karakter. Tümü, ${notes} not hâlinde tutuldu.`,
      cut_fact: (length, most) =>
        `Hücre ${length} karakter, bir bilgi en çok ${most}. Bilgide başı var; hücrenin tümü altında gösterilir.`,
      cut_cell: (length, most, shown) =>
        `Hücre ${length} karakter, bir bilgi en çok ${most}. Bilgide başı var; ilk ${shown} karakter altında gösterilir.`,
      cut_quote: (most) =>
        `Satır ${most} karakterden uzun. Adayın kanıtındaki alıntısı bu hücrede bitiyor.`,
    },
    facts: {
      no_json: 'Sütun listesi geçerli bir JSON değil.',
      over: (most, columns) =>
        `Bir listenin en çok ${most} sütunu bilgi olarak tutulur; tutulmayanlar: ${columns}`,
      cut: (cells, most) =>
        `${cells} hücre ${most} karakterden uzundu; bilgi olarak yalnızca başı tutuldu.`,
    },
    undo: {
      twice: 'Bu aktarma daha önce geri alınmış.',
      running: 'Aktarma sürüyor. Bitmesini bekleyin.',
    },
    stopped: {
      gone: 'Dosya silinmiş. Yeniden aktarın; daha önce aktarılanlar iki kez eklenmez.',
      fault:
        'Aktarma bir hata yüzünden durdu. Dosyayı yeniden aktarın; daha önce aktarılanlar iki kez eklenmez.',
    },
    columns: { row: 'satır', mistakes: 'hatalar' },
  },
)

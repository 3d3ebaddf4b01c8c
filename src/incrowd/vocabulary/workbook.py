"""The parts of a workbook that are the same in every release: one sheet, one format for dates, and nothing else.

A workbook is an archive of XML files (ECMA-376). All cells are in :data:`SHEET`, between its head and its tail; every
text stands in its own cell, so there is no list of texts beside them.
"""

from __future__ import annotations

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_APPLIED = ' applyNumberFormat="1"'
_STYLE = '<xf numFmtId="{}" fontId="0" fillId="0" borderId="0"{}/>'

SHEET = "xl/worksheets/sheet1.xml"
"""The file with the cells."""
SHEET_HEAD = f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
SHEET_TAIL = b"</sheetData></worksheet>"
DAYS_BEFORE_1970 = 25_569
"""The number that a sheet has for the first day of 1970."""
FIRST_DAY = 61
"""The first of March 1900: of days before it programs have different opinions."""
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1 << 20, 1 << 14, 32_767
"""What a sheet and a cell can hold."""

PARTS = {
    name: (_XML + text).encode()
    for name, text in {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
        f'<Override PartName="/{SHEET}" ContentType="{_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        '<sheets><sheet name="release" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">'
        '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        f'<cellStyleXfs count="1">{_STYLE.format(0, "")}</cellStyleXfs>'
        f'<cellXfs count="2">{_STYLE.format(0, "")}{_STYLE.format(164, _APPLIED)}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
    }.items()
}
"""The other files: their names in the archive, and all that is in them."""


def column_letters(place: int) -> str:
    """What a sheet calls a column.

    Examples
    --------
    >>> column_letters(0), column_letters(26)
    ('A', 'AA')
    """
    letters = ""
    while place >= 0:
        place, letter = divmod(place, 26)
        letters, place = chr(ord("A") + letter) + letters, place - 1
    return letters

package io.github.pulsarspark.schema.columns

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.github.pulsarspark.UnitSuite

/** The table in `docs/use/columns.md` is made from the list of columns: with `UPDATE=1`, as `make docs` runs it, this
  * suite writes it; without it the suite fails when the page is stale.
  */
class ColumnsPageSuite extends UnitSuite {

  private val page =
    Seq(Path.of("docs/use/columns.md"), Path.of("../docs/use/columns.md"))
      .find(Files.exists(_)).getOrElse(fail("no page here"))

  private val head = Seq("| column | type | in reads | null when | in writes |", "|---|---|---|---|---|")

  private def row(c: MetadataColumn): String = {
    val inReads =
      if (c.reader.isEmpty) Seq("not there", "") else Seq(c.doc.stripSuffix("."), c.nullWhen.getOrElse("never"))
    val cells = Seq(s"`${c.name}`", c.dataType.sql) ++ inReads :+ c.writer.fold("ignored")(_.doc)
    cells.mkString("| ", " | ", " |")
  }

  private val table = head ++ MetadataColumns.inWrites.map(row)

  test("the page has the table of the list") {
    val lines           = Files.readAllLines(page).asScala.toSeq
    val (before, after) = lines.span(!_.startsWith("| "))
    val fresh           = before ++ table ++ after.dropWhile(_.startsWith("|"))
    if (sys.env.contains("UPDATE")) Files.write(page, fresh.asJava)
    else assertEquals(lines, fresh, s"$page is stale. Run: make docs")
  }

  test("every row has a text of one line, and a reader or a writer") {
    MetadataColumns.inWrites.foreach { c =>
      assert(c.doc.endsWith(".") && !row(c).contains('\n'), c.name)
      assert(c.name.startsWith("__") && (c.reader.nonEmpty || c.writer.nonEmpty), c.name)
      c.writer.foreach(w => assert(w.types.contains(c.dataType), s"${c.name} cannot be written as it was read"))
    }
    assertEquals(MetadataColumns.inWrites.map(_.name).distinct.size, MetadataColumns.inWrites.size)
    assertEquals(MetadataColumns.all.filter(_.reader.isEmpty), Nil)
  }
}

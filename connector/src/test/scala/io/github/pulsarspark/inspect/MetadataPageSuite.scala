package io.github.pulsarspark.inspect

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.inspect.view.MetadataView
import io.github.pulsarspark.options.registry.OptionRegistry

/** The tables of columns in `docs/use/metadata.md` and the lists of options are made from the list of views: with
  * `UPDATE=1`, as `make docs` runs it, this suite writes them; without it the suite fails when the page is stale.
  */
class MetadataPageSuite extends UnitSuite {

  private val page =
    Seq(Path.of("docs/use/metadata.md"), Path.of("../docs/use/metadata.md")).find(Files.exists(_)).getOrElse(
      fail("no page here")
    )

  private def table(view: MetadataView): Seq[String] =
    Seq("| column | type | |", "|---|---|---|") ++ view.columns.map(c =>
      s"| `${c.name}` | ${c.dataType.sql} | ${c.getComment().getOrElse(fail(s"${view.name}.${c.name} says nothing"))} |"
    )

  private def options(view: MetadataView): String = s"Options: ${view.takes.words.mkString(", ")}."

  /** The page with the list of options and the first table below the heading of the view. */
  private def refreshed(lines: Seq[String], view: MetadataView): Seq[String] = {
    val (above, below)  = lines.splitAt(lines.indexOf(s"## `${view.name}`") + 1)
    val (before, after) = below.span(!_.startsWith("| column "))
    assert(above.nonEmpty && after.nonEmpty, s"the page has no part of ${view.name}")
    val text = before.filterNot(_.startsWith("Options: ")).reverse.dropWhile(_.isEmpty).reverse
    above ++ text ++ Seq("", options(view), "") ++ table(view) ++ after.dropWhile(_.startsWith("|"))
  }

  test("the page has the options and columns of every view") {
    val lines = Files.readAllLines(page).asScala.toSeq
    val fresh = MetadataViews.all.foldLeft(lines)(refreshed)
    if (sys.env.contains("UPDATE")) Files.write(page, fresh.asJava)
    else assertEquals(lines, fresh, s"$page is stale. Run: make docs")
  }

  test("the values of the option are the views") {
    assertEquals(OptionRegistry.find("metadata").get.values.toSet, MetadataViews.all.map(_.name).toSet)
  }
}

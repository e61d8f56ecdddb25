package io.github.pulsarspark.schema.columns

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import munit.FunSuite

import io.github.pulsarspark.schema.columns.MetadataColumn.{Ignored, Written}

/** The page of the documentation and the list in the code say the same. */
class ColumnsPageSuite extends FunSuite {

  private val page =
    Seq(Path.of("docs/use/columns.md"), Path.of("../docs/use/columns.md"))
      .find(Files.exists(_)).getOrElse(fail("no page here"))

  /** Name -> type, in reads, in writes. */
  private val rows: Seq[(String, Seq[String])] =
    Files.readAllLines(page).asScala.toSeq.filter(_.startsWith("| `__")).map { line =>
      val cells = line.split('|').map(_.trim).toSeq.drop(1)
      cells.head.stripPrefix("`").stripSuffix("`") -> cells.tail
    }

  test("every column, in its order, with its type") {
    val readable = rows.filterNot(_._2(1) == "not there").map { case (name, cells) => name -> cells.head }
    assertEquals(readable, MetadataColumns.all.map(c => c.name -> c.dataType.sql))
  }

  test("what a write does with each") {
    rows.foreach { case (name, cells) =>
      MetadataColumns.inWrites(name) match {
        case Some(Ignored)             => assertEquals(cells(2), "left out", name)
        case Some(Written(types @ _*)) => assert(cells(2) != "left out" && types.exists(_.sql == cells.head), name)
        case None                      => fail(s"$name is not a metadata column")
      }
    }
    assertEquals(rows.map(_._1).filter(MetadataColumns.byName(_).isEmpty).toSet, MetadataColumns.writeOnly.keySet)
  }
}

import sbt._

/** Sources of the tests from the Scala and Java snippets of pages, so that the build compiles what the pages show. */
object Snippets {

  /** Pages whose snippets are complete, given a session `spark`. */
  private val pages = Seq("quickstart", "offsets", "schemas", "streaming", "tables", "writing")

  private val fence = """(?ms)^```(scala|java)\n(.*?)^```$""".r

  def sources(docs: File, target: File): Seq[File] =
    for {
      page <- pages
      found = fence.findAllMatchIn(IO.read(docs / "use" / s"$page.md")).toSeq
      (language, source) <- Seq("scala" -> scala _, "java" -> java _)
      snippets = found.filter(_.group(1) == language).map(_.group(2))
      if snippets.nonEmpty
    } yield {
      val made = target / "io/github/pulsarspark/snippets" / s"${page.capitalize}${language.capitalize}.$language"
      val text = source(page.capitalize, snippets)
      if (!made.exists || IO.read(made) != text) IO.write(made, text)
      made
    }

  /** A snippet sees the names of those before it, and may use them again. */
  private def scala(page: String, snippets: Seq[String]): String =
    s"""package io.github.pulsarspark.snippets
       |
       |import org.apache.spark.sql.SparkSession
       |
       |object ${page}Scala {
       |  def run(spark: SparkSession): Unit = ${snippets.mkString("{\n", "\n;{\n", "")}${"}" * snippets.size}
       |}
       |""".stripMargin

  private def java(page: String, snippets: Seq[String]): String = {
    val methods = snippets.zipWithIndex.map { case (code, number) =>
      s"  void run$number(SparkSession spark) throws Exception {\n$code  }\n"
    }
    s"""package io.github.pulsarspark.snippets;
       |
       |import java.util.List;
       |import org.apache.spark.sql.*;
       |import org.apache.spark.sql.streaming.*;
       |import org.apache.spark.sql.types.*;
       |
       |abstract class ${page}Java {
       |${methods.mkString}}
       |""".stripMargin
  }
}

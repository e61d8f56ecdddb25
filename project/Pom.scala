import sbt._
import sbt.Keys._
import scala.xml.{Elem, Node}

/** The published POM. */
object Pom {
  private val project = "https://github.com/pulsar-spark/pulsar-spark"

  /** What a public repository requires of a POM. */
  val metadata: Seq[Setting[_]] = Seq(
    description          := "Read and write Apache Pulsar topics from Apache Spark: tables and streams, in one jar",
    homepage             := Some(url(project)),
    licenses             := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    startYear            := Some(2026),
    organizationName     := "The pulsar-spark authors",
    organizationHomepage := Some(url(project)),
    scmInfo              := Some(ScmInfo(url(project), s"scm:git:$project.git")),
    developers           := List(Developer("pulsar-spark", "The pulsar-spark authors", "", url(project))),
    pomExtra             := <issueManagement><system>GitHub</system><url>{s"$project/issues"}</url></issueManagement>,
    pomIncludeRepository := (_ => false),
    pomPostProcess       := withoutDependencies
  )

  /** The jar holds everything it needs, so whoever takes it must not fetch what it was built from. The project has no
    * address for mail.
    */
  private def withoutDependencies: Node => Node = {
    case pom: Elem => pom.copy(child = pom.child.filterNot(_.label == "dependencies").map(withoutEmptyMail))
    case other     => other
  }

  private def withoutEmptyMail(node: Node): Node = node match {
    case elem: Elem => elem.copy(child =
        elem.child.filterNot(child => child.label == "email" && child.text.isEmpty).map(withoutEmptyMail)
      )
    case other => other
  }
}

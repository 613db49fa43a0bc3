// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The program as a person starts it: options, screenshots, exit codes.
#include <QImage>
#include <QProcess>
#include <QSet>
#include <fstream>

#include "tests/studio/test_support.h"

namespace strata::test {
namespace {

struct Result {
  int code = -1;
  std::string out, err;
};

Result start(const QStringList& arguments, bool display = false) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"}) environment.remove(name);
  if (display) environment.insert("QT_QPA_PLATFORM", "offscreen");
  process.setProcessEnvironment(environment);
  process.start(STRATA_STUDIO_BINARY, arguments);
  if (!process.waitForFinished(60000)) {
    process.kill();
    return {};
  }
  int code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : 1000;
  return {code, process.readAllStandardOutput().toStdString(), process.readAllStandardError().toStdString()};
}

class Program : public testing::Test {
 protected:
  void SetUp() override { write_sample_trace(folder_ / "cnn.strata", {2, true}); }
  QString path(const char* name) { return QString::fromStdString((folder_ / name).string()); }
  TemporaryFolder folder_;
};

int colours(const QImage& image) {
  QSet<QRgb> seen;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) seen.insert(image.pixel(x, y));
  return static_cast<int>(seen.size());
}

TEST_F(Program, ScreenshotsOfEveryViewAndTheme) {
  for (const char* view : {"graph", "changes", "source", "code", "profile"})
    for (const char* theme : {"light", "dark"}) {
      Result r = start({path("cnn.strata"), "--stage", "scheduled", "--select", "mul_0", "--view", view, "--theme",
                        theme, "--screenshot", path("shot.png"), "--size", "1280x800"});
      EXPECT_EQ(r.code, 0) << r.err;
      EXPECT_EQ(r.err, "");
      QImage image(path("shot.png"));
      EXPECT_EQ(image.size(), QSize(1280, 800));
      EXPECT_GT(colours(image), 60) << view << " " << theme;
      QColor corner = image.pixelColor(640, 790);
      EXPECT_EQ(corner.lightness() < 128, std::string(theme) == "dark");
    }
}

TEST_F(Program, SelectionChangesThePicture) {
  ASSERT_EQ(start({path("cnn.strata"), "--screenshot", path("a.png")}).code, 0);
  ASSERT_EQ(start({path("cnn.strata"), "--select", "conv2d_0", "--screenshot", path("b.png")}).code, 0);
  EXPECT_NE(QImage(path("a.png")), QImage(path("b.png")));
}

TEST_F(Program, WrongNamesGiveTheNearestAndExitTwo) {
  struct Case {
    QStringList arguments;
    const char* said;
  };
  for (const Case& c : std::vector<Case>{
           {{"--stage", "schedulde"}, "unknown stage 'schedulde' of graph 0/0; did you mean 'scheduled'"},
           {{"--graph", "0/7"}, "unknown graph '0/7'; did you mean '0/"},
           {{"--select", "conv2d_9"}, "unknown node 'conv2d_9' at stage 'captured'; did you mean 'conv2d_"},
           {{"--view", "profil"}, "unknown view 'profil'; did you mean 'profile'"},
           {{"--theme", "drak"}, "unknown theme 'drak'; valid: light, dark"},
           {{"--stge", "scheduled"}, "unknown option '--stge'; did you mean '--stage'"},
           {{"--size", "12"}, "--size '12' is not a window size"},
           {{"second.strata"}, "one trace at a time"}}) {
    Result r = start(QStringList{path("cnn.strata"), "--screenshot", path("shot.png")} + c.arguments);
    EXPECT_EQ(r.code, 2) << c.said;
    EXPECT_EQ(r.err.rfind(std::string("strata-studio: ") + c.said, 0), 0u) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "shot.png")) << c.said;
  }
}

TEST_F(Program, BrokenTraces) {
  std::ofstream(folder_ / "text.strata") << "this is no trace";
  std::ofstream(folder_ / "empty.strata").flush();
  std::filesystem::copy_file(folder_ / "cnn.strata", folder_ / "cut.strata");
  std::filesystem::resize_file(folder_ / "cut.strata", 5000);
  for (const char* name : {"missing.strata", "text.strata", "empty.strata", "cut.strata"}) {
    Result r = start({path(name), "--screenshot", path("shot.png")});
    EXPECT_EQ(r.code, 2) << name << ": " << r.err;
    EXPECT_NE(r.err.find(name), std::string::npos) << r.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "shot.png")) << name;
  }
}

TEST_F(Program, ANewerTraceIsRefused) {
  std::fstream file(folder_ / "cnn.strata", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(60);  // SQLite's user_version, big-endian
  file.write("\x00\x00\x27\x0F", 4);
  file.close();
  Result r = start({path("cnn.strata"), "--screenshot", path("shot.png")});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("9999"), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "shot.png"));
}

TEST_F(Program, ScreenshotThatCannotBeWritten) {
  Result r = start({path("cnn.strata"), "--screenshot", path("no/such/folder.png")});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("cannot write"), std::string::npos) << r.err;
}

TEST_F(Program, NoDisplayIsSaidPlainly) {
  Result r = start({path("cnn.strata")});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.err.rfind("strata-studio: there is no display", 0), 0u) << r.err;
}

TEST_F(Program, HelpAndVersion) {
  Result help = start({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* option : {"--graph", "--stage", "--select", "--view", "--screenshot", "--size", "--theme"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
  EXPECT_EQ(start({"--version"}).out.rfind("strata-studio ", 0), 0u);
}

}  // namespace
}  // namespace strata::test
